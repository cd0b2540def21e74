import { defineProvider, secret, text } from '../provider.js';

/** GoDaddy Domains API v1: rows without ids, replaced by type and name. */
export const godaddy = defineProvider({
  kind: 'godaddy',
  label: 'GoDaddy',
  docs: 'https://developer.godaddy.com/doc/endpoint/domains',
  api: 'https://api.godaddy.com',
  credentials: [
    [
      text('api_key', 'API key', {
        help: 'A production key from developer.godaddy.com/keys. Keys have no narrower rights: each may do all.',
      }),
      secret('api_secret', 'API secret', { help: 'Shown once, with the key.' }),
    ],
  ],
  capabilities: {
    // CAA is not in the list of types of the API's description: it is shown, and not written
    types: ['A', 'AAAA', 'CNAME', 'MX', 'TXT', 'NS', 'SRV'],
    // one write replaces the SRV of all services at a name, which are several names in DNS
    ...{ ids: 'derived', ttlOf: 'set', replaces: 'zone', minTtl: 600, yields: 'Parked' },
  },
  limits: { requests: 60, perSeconds: 60, concurrency: 4 },
  load: () => import('./godaddy.provider.js'),
});
