import type { Difference } from '../../support/recordings.js';
import * as plesk from './replay.js';

/** What the adapter sends otherwise than was recorded, each with its reason. */
export const differences: readonly Difference[] = [
  {
    what: 'records are deleted one by one',
    reason: 'of several in one packet each is carried out or not; so it is known which',
    restored: plesk.oneByOne,
  },
  {
    what: 'of an update the old record stays where the new one was there already',
    reason:
      'an earlier run had left it: the recorded client deleted all of the name, the adapter is refused and says so',
    unsent: plesk.isOld,
  },
  {
    what: 'targets have their final dot',
    reason: 'that is how the API answers them (recorded)',
    normal: plesk.plain,
  },
  {
    what: 'sites are listed, the TTL of the zone is read, a record that exists is asked for again',
    reason: 'the recorded client asked for one site by name, knew no TTL, and looked before it wrote',
    answer: plesk.known,
  },
];
