import { RECORD_TYPES } from '../../dns/record.js';
import { defineProvider, SETS, secret } from '../provider.js';

const help = 'With the right "Manage domain name technical configurations", for these domains alone.';

/** Gandi LiveDNS v5: record sets without ids, written one by one. */
export const gandi = defineProvider({
  kind: 'gandi',
  label: 'Gandi',
  docs: 'https://api.gandi.net/docs/livedns/',
  api: 'https://api.gandi.net/v5/livedns',
  credentials: [[secret('token', 'Personal access token', { help })]],
  capabilities: {
    types: [...RECORD_TYPES, 'ALIAS', 'DNAME', 'DS', 'LOC', 'NAPTR', 'OPENPGPKEY', 'PTR', 'RP', 'SSHFP', 'TLSA'],
    ...{ ...SETS, minTtl: 300, maxTtl: 2592000 },
  },
  limits: { requests: 10, concurrency: 4 },
  load: () => import('./gandi.provider.js'),
});
