import type { Difference } from '../../support/recordings.js';
import * as infomaniak from './replay.js';

/** What the adapter sends otherwise than was recorded, each with its reason. */
export const differences: readonly Difference[] = [
  {
    what: 'a record is read before it is replaced',
    reason: 'what is not changed stays as the vendor has it; the answer is the record as it was listed',
    answer: infomaniak.read,
  },
  {
    what: 'version 2 of the API for records, quoted texts, paging and filters; an update without the name that stays',
    reason:
      'what version 1 writes does not reach the name servers any more (certbot-dns-infomaniak, issue 48); answers are those of version 1 in the form of version 2',
    normal: infomaniak.version2,
    fitted: infomaniak.answers,
  },
  {
    what: 'a record that changes its name is made anew',
    reason: 'an update of version 2 has no name',
    unsent: infomaniak.isRenaming,
    answer: infomaniak.moved,
  },
];
