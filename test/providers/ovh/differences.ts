import type { Difference } from '../../support/recordings.js';
import * as ovh from './replay.js';

/** What the adapter sends otherwise than was recorded, each with its reason. */
export const differences: readonly Difference[] = [
  {
    what: 'paths without a slash at the end',
    reason: 'both are the same',
    normal: ({ path, ...asked }) => ({ ...asked, path: path.replace(/\/$/, '') }),
  },
  {
    what: 'whole zones are read, and looked for is a name without its type for TXT',
    reason: 'the recorded client read one name and type; SPF, DKIM and DMARC are types of their own there',
    less: ({ method }) => method === 'GET',
  },
  {
    what: 'texts are quoted, targets absolute',
    reason: 'the recorded client left both to chance; without its dot a target is below the zone (recorded: answers)',
    normal: ovh.whole,
  },
  {
    what: 'an update repeats the TTL that the record has',
    reason: 'left out it would be that of the zone',
    normal: ovh.withoutKnownTtl,
  },
];
