import type { Difference } from '../../support/recordings.js';
import * as hostingde from './replay.js';

/** What the adapter sends otherwise than was recorded, each with its reason. */
export const differences: readonly Difference[] = [
  {
    what: 'no refusals of a zone that is blocked',
    reason: 'the recorded client wrote again and again; the adapter waits until the zone is free',
    restored: hostingde.free,
  },
  {
    what: 'recordsUpdate in the place of zoneUpdate, other filters and pages, texts with quotes',
    reason:
      'zoneUpdate writes the settings of the zone, too, which somebody may have changed meanwhile; a list of all is read where the recorded client looked at one name; the quotes are added by the API (recorded)',
    normal: hostingde.about,
  },
  {
    what: 'a record is modified in one write',
    reason: 'the recorded client deleted it and made another, between which it was gone',
    parts: hostingde.goneAndMade,
    joined: hostingde.last,
  },
];
