import type { Difference } from '../../support/recordings.js';
import * as gandi from './replay.js';

/** What the adapter sends otherwise than was recorded, each with its reason. */
export const differences: readonly Difference[] = [
  {
    what: 'PUT in place of POST, quoted texts, targets with their final dot, the TTL of an update',
    reason:
      'PUT is taken whether the set is there or not; Gandi answers texts quoted and takes both; without its dot a target is one of the zone; a PUT without a TTL sets the default one',
    normal: gandi.writes,
  },
  {
    what: 'zones are listed, not asked for by name',
    reason: 'the service shows all zones of an account; the list is made of the recorded answers for single zones',
    answer: gandi.zones,
  },
  {
    what: 'the whole zone is listed, and a set is read before it is written',
    reason: 'the recorded client read single sets, and not all that it wrote; the answers are made of those sets',
    answer: gandi.sets,
  },
  {
    what: 'a record that changes its name moves there',
    reason: 'the recorded client wrote the new name into the set of the old one, where it has no meaning',
    unsent: gandi.isRenaming,
    answer: gandi.moved,
  },
];
