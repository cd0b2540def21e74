import type { Difference } from '../../support/recordings.js';
import * as netcup from './replay.js';

/** What the adapter sends otherwise than was recorded, each with its reason. */
export const differences: readonly Difference[] = [
  {
    what: 'who calls',
    reason: 'it was taken out of the recording',
    normal: netcup.withoutCaller,
  },
  {
    what: 'parameters',
    reason: 'they were taken out of the recording: what an update sent is what its answer has changed',
    restored: netcup.withParameters,
  },
  {
    what: 'domains are listed, not asked for by name',
    reason: 'the list is made of the recorded answers for single ones',
    answer: netcup.domains,
  },
];
