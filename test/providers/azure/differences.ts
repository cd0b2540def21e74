import type { Difference } from '../../support/recordings.js';
import * as azure from './replay.js';

/** What the adapter sends otherwise than was recorded, each with its reason. */
export const differences: readonly Difference[] = [
  {
    what: 'who asks for a token, the version of the API, and the case of `dnsZones` and of the group in paths',
    reason: 'credentials are masked; types were added to the version; names of resources are the same in any case',
    normal: azure.bare,
  },
  {
    what: 'the whole zone is listed, and single sets are read',
    reason: 'the recorded client listed all sets of a type each time; the answers are made of the sets in those lists',
    answer: azure.sets,
  },
  {
    what: 'the zone is asked for where a set is not found',
    reason: 'the same answer says that either is gone; the zone is that of the recorded list',
    answer: azure.zone,
  },
  {
    what: 'a set that changes is written once',
    reason: 'the recorded client deleted it first, so that it was gone for a while',
    unsent: azure.rewritten,
  },
];
