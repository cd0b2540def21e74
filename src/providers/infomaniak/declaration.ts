import { RECORD_TYPES } from '../../dns/record.js';
import { defineProvider, secret } from '../provider.js';

/** Infomaniak API: zones of version 2, found by the domains of version 1. */
export const infomaniak = defineProvider({
  kind: 'infomaniak',
  label: 'Infomaniak',
  docs: 'https://developer.infomaniak.com/docs/api/get/2/zones/%7Bzone%7D/records',
  api: 'https://api.infomaniak.com',
  credentials: [[secret('api_token', 'API token', { help: 'With the scopes domain:read, dns:read and dns:write.' })]],
  capabilities: { types: [...RECORD_TYPES, 'DS', 'PTR', 'SSHFP', 'TLSA'], minTtl: 60 },
  // 60 a minute, from memory: neither seen documented nor recorded
  limits: { requests: 60, perSeconds: 60, concurrency: 2 },
  load: () => import('./infomaniak.provider.js'),
});
