import { RECORD_TYPES } from '../../dns/record.js';
import { defineProvider, secret, text } from '../provider.js';

/** LuaDNS: records with ids, rdata in presentation form. */
export const luadns = defineProvider({
  kind: 'luadns',
  label: 'LuaDNS',
  docs: 'https://luadns.com/api.html',
  api: 'https://api.luadns.com/v1',
  credentials: [
    [
      text('email', 'Email', { example: 'dns@example.com', help: 'Of the LuaDNS account.' }),
      secret('api_key', 'API key', {
        help: 'Settings: enable the API; then API Keys. One for a single zone is enough.',
      }),
    ],
  ],
  // types: dnscontrol 2024; TTL: what lego takes for the least
  capabilities: { types: [...RECORD_TYPES, 'ALIAS', 'PTR', 'SSHFP', 'TLSA'], minTtl: 300 },
  limits: { requests: 1200, perSeconds: 300 }, // documentation 2025
  load: () => import('./luadns.provider.js'),
});
