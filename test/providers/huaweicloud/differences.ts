import type { Difference } from '../../support/recordings.js';
import * as huaweicloud from './replay.js';

/** What the adapter sends otherwise than was recorded, each with its reason. */
export const differences: readonly Difference[] = [
  {
    what: 'version 2.1, paging and filters, names and targets with their final dot, the default line',
    reason:
      'lines are of version 2.1 alone; whole zones are listed, by the largest pages; a name with its final dot is the same everywhere; the line is said',
    normal: huaweicloud.sets,
  },
  {
    what: 'the zone is read before each write',
    reason: 'a set is written as a whole; the answer is made of the sets that were answered until then',
    answer: huaweicloud.list,
  },
  {
    what: 'creations that the recorded account refused are carried out',
    reason: 'the account still had those sets of an earlier time; what is asked for is compared all the same',
    fitted: huaweicloud.asInNewAccount,
  },
  {
    what: 'a second value comes to its set, and a record that changes its name moves there',
    reason:
      'the recorded client created the set a second time, and was refused; it wrote the new name into the old set, and the answer shows the old one',
    unsent: huaweicloud.mistaken,
    answer: huaweicloud.mended,
  },
];
