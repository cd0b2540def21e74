import type { Difference } from '../../support/recordings.js';
import * as cloudns from './replay.js';

/** What the adapter sends otherwise than was recorded, each with its reason. */
export const differences: readonly Difference[] = [
  {
    what: 'parameters go in the body, without those that say who asks, filters, and what is empty',
    reason:
      'a password in a query is written down by proxies; whole zones are listed; the recorded client sent placeholders for priority, weight and port',
    normal: cloudns.parameters,
  },
  {
    what: 'zones are listed, not asked for by name (`get-zone-info`)',
    reason: 'the service shows all zones of an account; the list is made of the recorded answers for single zones',
    answer: cloudns.zones,
  },
];
