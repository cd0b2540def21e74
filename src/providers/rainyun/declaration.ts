import { defineProvider, secret } from '../provider.js';

export const rainyun = defineProvider({
  kind: 'rainyun',
  label: 'Rainyun',
  docs: 'https://www.rainyun.com/docs/rcs/detail/api',
  api: 'https://api.v2.rainyun.com/product',
  credentials: [
    [secret('api_key', 'API key', { help: 'Console, "Account settings", "API keys". It may do everything.' })],
  ],
  // what a description of other clients names; how SRV is written is not clear there
  capabilities: {
    ...{ types: ['A', 'AAAA', 'CNAME', 'MX', 'TXT'], minTtl: 600 },
    lines: ['default', 'LTEL', 'LCNC', 'LMOB', 'LEDU', 'LSEO', 'LFOR'],
  },
  // not documented
  limits: { requests: 5, concurrency: 2 },
  load: () => import('./rainyun.provider.js'),
});
