import type { Difference } from '../../support/recordings.js';
import { unquoted, withBody, withoutQuery } from '../differences.js';
import * as cloudflare from './replay.js';

/** What the adapter sends otherwise than was recorded, each with its reason. */
export const differences: readonly Difference[] = [
  {
    what: 'paging and filters of lists',
    reason:
      'whole zones are listed, by pages as large as the API allows; the recorded client asked for a name, in pages of 100',
    normal: withoutQuery,
  },
  {
    what: 'TXT is sent quoted',
    reason:
      'the API keeps it as it was sent, and only the quoted form holds texts over 255 bytes and blanks at the ends',
    normal: (asked) =>
      withBody(asked, (body) => ('content' in body ? { ...body, content: unquoted(body.content) } : body)),
  },
  {
    what: '`proxied` is always sent',
    reason: 'left out it is the default of the zone, which nobody chose',
    more: ['proxied'],
  },
  {
    what: 'PATCH of what changes in place of PUT of the whole record',
    reason: 'PUT takes away comments, tags and what else the service does not know',
    normal: (asked) => (asked.method === 'PUT' ? { ...asked, method: 'PATCH' } : asked),
    less: (asked) => asked.method === 'PATCH',
  },
  {
    what: 'several changes are one call',
    reason: 'the batch is carried out whole or not at all; it is younger than the recorded client',
    parts: cloudflare.singly,
    joined: cloudflare.together,
  },
];
