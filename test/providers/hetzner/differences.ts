import type { Difference } from '../../support/recordings.js';
import * as hetzner from './replay.js';

/** What the adapter sends otherwise than was recorded, each with its reason. */
export const differences: readonly Difference[] = [
  {
    what: 'paging, the TTL of further records, targets with their final dot, and the last records of a set one by one',
    reason:
      'lists come by the largest pages; a set has one TTL, which its first record brings; without its dot a target is one of the zone; a set without records is removed (recorded)',
    normal: hetzner.sets,
  },
  {
    what: 'zones are listed, not asked for by name; the whole zone is listed',
    reason: 'the service shows all of an account; the answers are made of the recorded zones and sets',
    answer: hetzner.reads,
  },
  {
    what: 'a recorded page is a whole list',
    reason: 'the recorded client took pages of 25 and read no second one; the adapter asks for 100',
    fitted: hetzner.onePage,
  },
  {
    what: 'a record that changes its name moves there',
    reason: 'the recorded client looked for the new name, found no set of it, and wrote nothing',
    answer: hetzner.moved,
  },
];
