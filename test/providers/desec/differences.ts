import type { Difference } from '../../support/recordings.js';
import * as desec from './replay.js';

/** What the adapter sends otherwise than was recorded, each with its reason. */
export const differences: readonly Difference[] = [
  {
    what: 'sets are written by PUT of a list, whole, with targets that are absolute',
    reason:
      'deSEC carries such a list out whole or not at all; the recorded client wrote set by set, by POST, PATCH or DELETE, and appended the zone to each target',
    normal: desec.writes,
    parts: desec.eachSet,
  },
  {
    what: 'zones are listed, not asked for by name',
    reason: 'the service shows all zones of an account; the list is made of those that the recorded client found',
    answer: desec.zones,
  },
  {
    what: 'the whole zone is listed',
    reason: 'the recorded client asked for names or types; the answer is made of the sets that were answered',
    answer: desec.sets,
  },
];
