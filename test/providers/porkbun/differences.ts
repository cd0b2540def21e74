import type { Difference } from '../../support/recordings.js';
import { refuseTwice } from '../differences.js';
import * as porkbun from './replay.js';

/** What the adapter sends otherwise than was recorded, each with its reason. */
export const differences: readonly Difference[] = [
  {
    what: 'keys, and numbers as texts',
    reason: 'keys were taken out of the recording; Porkbun answers numbers as texts and takes both',
    normal: porkbun.withoutKeys,
  },
  {
    what: 'domains are listed; the recorded client pinged, and read the records of its domain',
    reason: 'the service shows all zones of an account; the list is made of the recorded answers for single ones',
    answer: porkbun.domains,
  },
  {
    what: 'a record that exists is asked for again',
    reason: 'the recorded client looks before it writes; the adapter writes, and looks when it is refused',
    answer: refuseTwice(/^\/dns\/create\//, {
      status: 400,
      body: { status: 'ERROR', message: 'Create error: We were unable to create the DNS record.' },
    }),
  },
];
