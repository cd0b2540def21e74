import type { Difference } from '../../support/recordings.js';
import { readFirst } from '../differences.js';
import * as dnspod from './replay.js';

/** What the adapter sends otherwise than was recorded, each with its reason. */
export const differences: readonly Difference[] = [
  readFirst(
    ({ path, body }) => (/Record\.Info$/.test(path) ? (body as { record_id?: string }).record_id : undefined),
    (record) => ({ status: { code: '1' }, record }),
  ),
  {
    what: 'who asks, paging, the zone by its name, the line by its id, the final dot of targets; TTL and state are said',
    reason:
      'tokens are masked; both names of a zone and of a line are documented; a name with its final dot is the same whatever the zone; what is left out becomes the default',
    normal: dnspod.parameters,
  },
  {
    what: 'zones are listed (`Domain.List`), not asked for by name (`Domain.Info`)',
    reason:
      'the service shows all zones of an account; the list is made of the recorded answers for single zones, or of the refusal',
    answer: dnspod.zones,
  },
  {
    what: 'a text is looked for before it is made',
    reason:
      'it may be there in quotes, which DNSPod may take for another text; nothing was there where nothing was listed',
    answer: dnspod.look,
  },
];
