import type { Description } from '../contract/described.js';

export const description: Description = {
  file: 'powerdns',
  wrong: [
    {
      where: /rrsets\/\d+ must have required property '(ttl|records)'/,
      reason: 'a set that is deleted has neither (seen on 4.7)',
    },
    { where: /autoprimaries_url is not described/, reason: 'the server itself answers so (seen on 4.7)' },
  ],
};
