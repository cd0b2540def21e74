import type { Difference } from '../../support/recordings.js';

/** What the adapter sends otherwise than was recorded, each with its reason. */
export const differences: readonly Difference[] = [
  {
    what: 'of an update the TTL, and what else the record holds, is sent, too',
    reason: 'what is left out falls back to a default: the TTL of the recorded client was lost (recorded)',
    more: ['ttl', 'group'],
  },
];
