import type { Difference } from '../../support/recordings.js';
import * as easydns from './replay.js';

/** What the adapter sends otherwise than was recorded, each with its reason. */
export const differences: readonly Difference[] = [
  {
    what: 'what was there is made',
    reason: 'the records of an earlier run were in the zone: the sandbox refused them with 500 and 409',
    restored: easydns.made,
  },
  {
    what: 'no TTL, domain and priority, pages, and the final dot of targets',
    reason: 'the recorded client sent a TTL of its own, and names that are relative to the zone without their dot',
    normal: easydns.plain,
  },
  {
    what: 'domains are listed, not asked for by name',
    reason: 'the list is made of the recorded answers for single ones',
    answer: easydns.domains,
  },
];
