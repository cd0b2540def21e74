import type { Difference } from '../../support/recordings.js';
import { readFirst } from '../differences.js';
import * as ionos from './replay.js';

/** What the adapter sends otherwise than was recorded, each with its reason. */
export const differences: readonly Difference[] = [
  readFirst(({ method, path }) => (method === 'GET' ? /\/records\/([^/]+)$/.exec(path)?.[1] : undefined)),
  {
    what: 'whole zones are read',
    reason: 'the recorded client read one name and type',
    less: ({ method }) => method === 'GET',
  },
  {
    what: 'a look at the name before a record is made, and none is made twice',
    reason:
      'of an identical record IONOS makes a new one and drops the old one (recorded); answered is what was recorded',
    answer: ionos.look,
  },
  {
    what: 'a change is one PUT',
    reason:
      'it keeps the id; the recorded client took the record away and made it again, which takes longer to be seen',
    parts: ionos.remade,
    fitted: ionos.single,
  },
  {
    what: 'what is there is not made, and what is as it shall become not taken away',
    reason: 'the recorded client made a duplicate, and replaced all records of the name by one',
    unsent: ionos.unneeded,
  },
];
