import type { Description } from '../contract/described.js';

export const description: Description = {
  file: 'baidu-dns',
  wrong: [
    { where: /nextMarker is missing/, reason: 'absent where nothing follows (documented for all of Baidu Cloud)' },
  ],
};
