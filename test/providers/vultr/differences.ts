import type { Difference } from '../../support/recordings.js';
import { refuseTwice } from '../differences.js';
import * as vultr from './replay.js';

/** What the adapter sends otherwise than was recorded, each with its reason. */
export const differences: readonly Difference[] = [
  {
    what: 'larger pages',
    reason: 'fewer calls; the recorded client took the usual page',
    normal: vultr.unpaged,
  },
  {
    what: 'of an update what changes is sent',
    reason: 'PATCH keeps what is left out (recorded); the recorded client repeated what it knew',
    less: ({ method }) => method === 'PATCH',
  },
  {
    what: 'a record that exists is asked for again',
    reason: 'the recorded client looks before it writes; the adapter writes, and looks when it is refused',
    answer: refuseTwice(/\/records$/, { status: 400, body: { error: 'Duplicate records', status: 400 } }),
  },
];
