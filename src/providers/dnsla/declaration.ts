import { defineProvider, secret, text } from '../provider.js';

const help = 'Of "API 密钥" in the account settings of DNS.LA.';
const SECRET = 'Of that ID; it opens the whole account.';

/** DNS.LA: records with ids of 17 digits, lines and weights. SRV and its redirects are shown only. */
export const dnsla = defineProvider({
  kind: 'dnsla',
  label: 'DNS.LA',
  docs: 'https://www.dns.la/docs/ApiDoc',
  api: 'https://api.dns.la',
  credentials: [[text('api_id', 'API ID', { help }), secret('api_secret', 'API secret', { help: SECRET })]],
  // lines beside the default one are those of `zoneInfo`: their ids are not documented
  capabilities: { types: ['A', 'AAAA', 'CNAME', 'MX', 'TXT', 'NS', 'CAA'], toggle: 'record', weight: true, minTtl: 60 },
  // not documented
  limits: { requests: 10, perSeconds: 1, concurrency: 4 },
  load: () => import('./dnsla.provider.js'),
});
