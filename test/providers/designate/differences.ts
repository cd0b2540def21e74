import type { Difference } from '../../support/recordings.js';
import { differences as family } from '../huaweicloud/differences.js';
import * as designate from './replay.js';

/** What the adapter sends otherwise than was recorded, each with its reason. */
export const differences: readonly Difference[] = [
  {
    what: 'of a set that is there the values, and its TTL where that changes',
    reason: 'Designate keeps what is left out, and refuses a name or a type (its source 2024)',
    normal: designate.whole,
  },
  {
    what: 'a token is fetched from Keystone',
    reason: 'the recorded client had one; its traffic is not in the recording',
    answer: designate.token,
  },
  ...family,
];
