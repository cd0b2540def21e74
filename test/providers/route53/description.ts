import type { Description } from '../contract/described.js';

export const description: Description = {
  file: 'route53',
  types: Object.fromEntries(
    ['SSHFP', 'TLSA', 'SVCB', 'HTTPS'].map((type) => [type, 'of the service model since 2024, younger than this one']),
  ),
  wrong: [{ where: /200\.Marker is missing/, reason: 'answered where one was asked for (its own words)' }],
};
