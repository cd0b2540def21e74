import { defineProvider, secret, text } from '../provider.js';

/**
 * Cloudflare API v4: records with ids. TTL 1 means "automatic", which proxied records always have; 2 to 59 are refused
 * (Enterprise zones: 2 to 29). A batch is one transaction, of 200 changes at most in a free zone (documented).
 */
export const cloudflare = defineProvider({
  kind: 'cloudflare',
  label: 'Cloudflare',
  docs: 'https://developers.cloudflare.com/api/',
  api: 'https://api.cloudflare.com/client/v4',
  credentials: [
    [
      secret('api_token', 'API token', {
        help: 'With the permissions Zone:Read and DNS:Edit; for tunnels Cloudflare Tunnel:Edit, too.',
      }),
    ],
    [text('email', 'Email', { example: 'dns@example.com' }), secret('api_key', 'Global API Key')],
  ],
  capabilities: {
    // NAPTR and LOC are shown only: how their text and their `data` escape and round is not documented
    types: [
      'A',
      'AAAA',
      'CNAME',
      'MX',
      'TXT',
      'NS',
      'SRV',
      'CAA',
      'SVCB',
      'HTTPS',
      'TLSA',
      'SSHFP',
      'DS',
      'PTR',
      'URI',
      'DNSKEY',
      'OPENPGPKEY',
      'SMIMEA',
    ],
    ...{ proxiedTypes: ['A', 'AAAA', 'CNAME'], apexCname: true, minTtl: 60, maxTtl: 86400, automaticTtl: 1 },
    ...{ atomic: true, chunk: 200, tunnels: true },
  },
  // 1200 requests in 5 minutes per user; other clients of the same user get a share
  limits: { requests: 1000, perSeconds: 300 },
  load: () => import('./cloudflare.provider.js'),
});
