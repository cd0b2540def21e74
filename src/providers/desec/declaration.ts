import { EXTRA_TYPES, RECORD_TYPES } from '../../dns/record.js';
import { defineProvider, SETS, secret, window } from '../provider.js';

/** deSEC API v1: record sets without ids, several written at once, all or none; few calls, which is why. */
export const desec = defineProvider({
  kind: 'desec',
  label: 'deSEC',
  docs: 'https://desec.readthedocs.io/en/latest/dns/rrsets.html',
  api: 'https://desec.io/api/v1',
  credentials: [
    [secret('token', 'Token', { help: 'From https://desec.io/tokens; no permissions beside its record policies.' })],
  ],
  capabilities: {
    // ALIAS and DNAME are disabled there (documented); a DNSKEY is one beside those of deSEC itself
    types: [...RECORD_TYPES, ...EXTRA_TYPES.filter((type) => type !== 'ALIAS' && type !== 'DNAME')],
    ...{ ...SETS, atomic: true },
    // of most domains (`zoneInfo` tells that of one); the largest one by a third party's page of 2026, while a copy of
    // deSEC's own documentation of some years ago says 604800: the lesser is taken
    ...{ minTtl: 3600, maxTtl: 86400 },
  },
  // documented: reads 10 a second and 50 a minute; writes of a domain 2 a second, 15 a minute, 100 an hour, 300 a day
  limits: { requests: 10, more: [window(50, 60)], concurrency: 4 },
  load: () => import('./desec.provider.js'),
});
