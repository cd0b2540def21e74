import { defineProvider, secret } from '../provider.js';

const help = 'Of the API manager there; it opens the whole account. Limit it to this address.';

/** NameSilo: records with ids, new ones after each change. NS are not among them; other types are shown only. */
export const namesilo = defineProvider({
  kind: 'namesilo',
  label: 'NameSilo',
  docs: 'https://www.namesilo.com/api-reference',
  api: 'https://www.namesilo.com/api',
  credentials: [[secret('api_key', 'API key', { help })]],
  // its documentation names a TTL of 3600 at least; those above a month are refused (lego)
  capabilities: { types: ['A', 'AAAA', 'CNAME', 'MX', 'TXT'], minTtl: 3600, maxTtl: 2592000 },
  // not documented; it refuses a call while another one is worked on (code 400)
  limits: { requests: 1, perSeconds: 1, concurrency: 1 },
  load: () => import('./namesilo.provider.js'),
});
