import type { Description } from '../contract/described.js';

export const description: Description = {
  file: 'route53',
  wrong: [{ where: /200\.Marker is missing/, reason: 'answered where one was asked for (its own words)' }],
};
