import { RECORD_TYPES } from '../../dns/record.js';
import { defineProvider, secret } from '../provider.js';

/** bunny.net DNS: records with ids, weights and remarks; what it routes or accelerates is read-only. */
export const bunny = defineProvider({
  kind: 'bunny',
  label: 'bunny.net',
  docs: 'https://docs.bunny.net/api-reference/core/dns-zone/list-dns-zones',
  api: 'https://api.bunny.net',
  credentials: [
    [
      secret('access_key', 'API key', {
        help: 'Account, API. It opens all of the account; that of a sub-user with the permission "DNS" is enough.',
      }),
    ],
  ],
  capabilities: {
    // SVCB, HTTPS and TLSA are shown only: in what fields their parts stand is not documented
    types: [...RECORD_TYPES, 'PTR'],
    ...{ toggle: 'record', remark: true, weight: true, apexCname: true, minTtl: 15 },
  },
  // not documented: a guess on the safe side
  limits: { requests: 20, concurrency: 4 },
  load: () => import('./bunny.provider.js'),
});
