import type { Difference } from '../../support/recordings.js';
import * as namesilo from './replay.js';

/** What the adapter sends otherwise than was recorded, each with its reason. */
export const differences: readonly Difference[] = [
  {
    what: 'the key',
    reason: 'it was taken out of the recording',
    normal: ({ query: { key: _key, ...query }, ...asked }) => ({ ...asked, query }),
  },
  {
    what: 'domains are listed, not asked for by name',
    reason: 'the service shows all zones of an account; the list is made of the recorded answers for single ones',
    answer: namesilo.domains,
  },
];
