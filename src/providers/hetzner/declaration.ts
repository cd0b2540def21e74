import { defineProvider, SETS, secret } from '../provider.js';

/** Hetzner Cloud (not the older dns.hetzner.com): record sets without ids, writes that go on after their answer. */
export const hetzner = defineProvider({
  kind: 'hetzner',
  label: 'Hetzner',
  docs: 'https://docs.hetzner.cloud/reference/cloud#dns',
  api: 'https://api.hetzner.cloud/v1',
  credentials: [[secret('api_token', 'API token', { help: 'Of the Cloud project with the zones: Read & Write.' })]],
  capabilities: {
    types: ['A', 'AAAA', 'CAA', 'CNAME', 'DS', 'HTTPS', 'MX', 'NS', 'PTR', 'RP', 'SRV', 'SVCB', 'TLSA', 'TXT'],
    ...{ ...SETS, minTtl: 60 },
  },
  // 3600 an hour and project (header `ratelimit-limit`, recorded 2026); other clients of the project get a share
  limits: { requests: 3000, perSeconds: 3600, concurrency: 4 },
  load: () => import('./hetzner.provider.js'),
});
