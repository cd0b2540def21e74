import type { Description } from '../contract/described.js';

export const description: Description = {
  file: 'alibaba-esa',
  wrong: [
    { where: /Data\.\w+ is missing/, reason: 'each field is required of the types that have it (its own words)' },
    { where: /SourceType is missing/, reason: 'left out it is "Domain" (its own words), and of CNAME only' },
  ],
};
