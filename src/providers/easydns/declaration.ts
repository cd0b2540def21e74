import { RECORD_TYPES } from '../../dns/record.js';
import { defineProvider, secret } from '../provider.js';

/** easyDNS: records with ids, one request a second. */
export const easydns = defineProvider({
  kind: 'easydns',
  label: 'easyDNS',
  docs: 'https://docs.sandbox.rest.easydns.net/',
  api: 'https://rest.easydns.net',
  credentials: [
    [
      secret('token', 'Token', { help: 'User, security, API tokens. It opens all of the user.' }),
      secret('api_key', 'API key', { help: 'In the same place.' }),
    ],
  ],
  capabilities: { types: [...RECORD_TYPES, 'PTR', 'SSHFP', 'TLSA'], minTtl: 300, maxTtl: 86400 },
  // "1 request per second" and 500 a day, as clients tell of the documentation; the day is easyDNS's own to count
  limits: { requests: 1, concurrency: 1 },
  load: () => import('./easydns.provider.js'),
});
