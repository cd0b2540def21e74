import { defineProvider, secret } from '../provider.js';

/** Spaceship: records without ids, named by their values. Those of its products, and other types, are shown only. */
export const spaceship = defineProvider({
  kind: 'spaceship',
  label: 'Spaceship',
  docs: 'https://docs.spaceship.dev/',
  api: 'https://spaceship.dev/api/v1',
  credentials: [
    [
      // the names of the scopes are those that its users write of, 2025 and 2026
      secret('api_key', 'API key', { help: 'With domains:read, dnsrecords:read and dnsrecords:write.' }),
      secret('api_secret', 'API secret', { help: 'Shown once, when the key is made.' }),
    ],
  ],
  capabilities: {
    ...{
      types: ['A', 'AAAA', 'ALIAS', 'CAA', 'CNAME', 'MX', 'NS', 'PTR', 'SRV', 'TXT'],
      ids: 'derived',
      minTtl: 60,
      maxTtl: 3600,
    },
  },
  // of 300 in 300 seconds for a user and domain, as a public client has it (not seen documented); a 429 says how long
  limits: { requests: 250, perSeconds: 300, concurrency: 4 },
  load: () => import('./spaceship.provider.js'),
});
