import type { Description } from '../contract/described.js';

export const description: Description = {
  file: 'netlify',
  wrong: [
    { where: /(weight|port|errors) is not described/, reason: 'answered by the API (samples of lego)' },
    { where: /query page is not described/, reason: 'pages are described in words, for all lists' },
  ],
};
