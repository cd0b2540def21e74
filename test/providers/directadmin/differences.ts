import type { Difference } from '../../support/recordings.js';
import * as directadmin from './replay.js';

/** What the adapter sends otherwise than was recorded, each with its reason. */
export const differences: readonly Difference[] = [
  {
    what: 'writes are POST, the record that is meant is number 0, texts are in quotes, targets have their final dot',
    reason:
      'a GET may be repeated on the way, the number is free, and without quotes and dot a zone file means another',
    normal: directadmin.written,
  },
  {
    what: 'the owners of MX and TTLs are asked for, a deletion says that it is one, an update keeps the TTL',
    reason: 'the recorded client did not need MX, and its updates took the TTL away',
    more: ['full_mx_records', 'ttl', 'delete'],
  },
  {
    what: 'domains are listed in JSON, all of them',
    reason: 'a form that was cut looks whole',
    normal: (asked) => (asked.path === '/CMD_API_SHOW_DOMAINS' ? { ...asked, query: {} } : asked),
    fitted: directadmin.domains,
  },
  {
    what: 'the zone is read after each write',
    reason: 'the recorded client believed each success; the list is made of the recorded one and the write',
    answer: directadmin.after,
  },
];
