import type { Description } from '../contract/described.js';

export const description: Description = {
  file: 'cloudflare',
  parts: 'the description repeats the whole record; Cloudflare keeps what is left out',
  beyond: { '/dns_records/batch': 'younger than the description; checked in the edges of the kind' },
  types: { OPENPGPKEY: 'younger than the description: its content is the key in base64' },
  wrong: [
    {
      where: /: 4\d\d: \/(success|result)? must/,
      reason: 'that of refusals takes in that of successes, whose "success" is true; the recorded ones look like ours',
    },
    { where: /result_info\/total_pages is not described/, reason: 'recorded 2025' },
    { where: /zones: 200: \/result\/\d+\/(status|type|paused) is not described/, reason: 'recorded 2025' },
    { where: /\/result\/(\d+\/)?settings is not described/, reason: 'younger than the description' },
    { where: /^DELETE .*\/(success|errors|messages) is not described/, reason: 'recorded 2025' },
  ],
};
