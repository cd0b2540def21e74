import type { Difference } from '../../support/recordings.js';
import * as constellix from './replay.js';

/** What the adapter sends otherwise than was recorded, each with its reason. */
export const differences: readonly Difference[] = [
  {
    what: 'no slash at the end of paths, texts in quotes, targets with their final dot',
    reason:
      'clients of later years send no slash; texts are answered in quotes; without its dot a target is one of the zone',
    normal: constellix.plain,
  },
  {
    what: 'the target of a CNAME is `host`, too',
    reason: 'the recorded client left it out, and the target that was answered was the zone itself',
    more: ['host'],
  },
  {
    what: 'an update sends back what was read',
    reason: 'the recorded client named id, name, TTL and values alone: what else a set has is not to be lost',
    more: ['type', 'recordType', 'recordOption', 'noAnswer', 'note', 'gtdRegion', 'parentId', 'parent', 'source'],
  },
  {
    what: 'the whole zone is listed',
    reason: 'the recorded client listed one type, and not before each write; the answers are made of those sets',
    answer: constellix.sets,
  },
  {
    what: 'a value that joins a set is not sent as a set of its own first',
    reason: 'the recorded client looked only when it was refused',
    unsent: constellix.isRefused,
  },
  {
    what: 'a record that changes its name moves to the set of the new one',
    reason: 'a set may have other values, which keep their name; the recorded client renamed the whole set',
    unsent: constellix.isRenaming,
    answer: constellix.moved,
  },
];
