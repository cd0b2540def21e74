import type { Description } from '../contract/described.js';

export const description: Description = {
  file: 'linode',
  wrong: [{ where: /name must NOT have fewer than 1/, reason: 'by its own words the zone itself is an empty name' }],
};
