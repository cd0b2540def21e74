import type { Difference } from '../../support/recordings.js';
import { readFirst, refuseTwice } from '../differences.js';
import * as scaleway from './replay.js';

/** What the adapter sends otherwise than was recorded, each with its reason. */
export const differences: readonly Difference[] = [
  readFirst(
    ({ method, query }) => (method === 'GET' ? query.id : undefined),
    (record) => ({ records: [record], total_count: 1 }),
  ),
  {
    what: 'names are relative, targets have their final dot, texts their quotes',
    reason:
      'the recorded client left out the dot after the zone of some names and after targets, which made them names below the zone; quotes are added by Scaleway (recorded)',
    restored: scaleway.meant,
  },
  {
    what: 'larger pages, deletions in another order, and a look at one name',
    reason: 'fewer calls; a list of changes is carried out as one',
    normal: scaleway.plain,
    more: ['page_size', 'name', 'type'],
  },
  {
    what: 'a record that exists is asked for again',
    reason: 'the recorded client looks before it writes; the adapter writes, and looks when it is refused',
    answer: refuseTwice(/\/records$/, { status: 409, body: { message: 'record already exists' } }),
  },
  {
    what: 'the answer is short, no zone is made, and remarks are repeated',
    reason:
      'a record of a zone that is gone would make a new zone; a record that is set takes the place of the old one',
    normal: scaleway.withoutOptions,
  },
  {
    what: 'zones are listed',
    reason: 'the recorded client only reads the records of its zone; the list is made of those answers',
    answer: scaleway.zones,
  },
];
