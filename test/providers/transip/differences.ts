import type { Difference } from '../../support/recordings.js';
import * as transip from './replay.js';

/** What the adapter sends otherwise than was recorded, each with its reason. */
export const differences: readonly Difference[] = [
  {
    what: 'the login',
    reason: 'it was taken out of the recording; nonce and label are for one use',
    normal: (asked) => (asked.path === '/auth' ? { ...asked, body: undefined } : asked),
  },
  {
    what: 'domains are listed, not asked for by name',
    reason: 'the service shows all zones of an account; the list is made of the recorded answers for single ones',
    answer: transip.domains,
  },
  {
    what: 'the zone is written whole',
    reason:
      'only so several changes are one; the recorded client took and gave entries one by one: what a write changes is compared with these',
    parts: transip.byEntry,
  },
  {
    what: 'what was written is read back',
    reason:
      'TransIP says yes and leaves out what does not please it; where the recording has no reading after a write, it is made of the last one and what was written since',
    answer: transip.asWritten,
  },
  {
    what: 'an entry that moves to another name is made there',
    reason: 'the recorded client made it again where it was',
    restored: transip.moved,
  },
];
