import type { Description } from '../contract/described.js';

export const description: Description = {
  file: 'alibaba-alidns',
  wrong: [{ where: /request\.Priority is missing/, reason: 'by its own words it is required of MX alone' }],
};
