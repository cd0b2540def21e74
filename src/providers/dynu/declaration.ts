import { defineProvider, secret } from '../provider.js';

/** Dynu API v2: records with ids, each of which can be turned off. */
export const dynu = defineProvider({
  kind: 'dynu',
  label: 'Dynu',
  docs: 'https://www.dynu.com/en-US/Support/API',
  api: 'https://api.dynu.com/v2',
  credentials: [[secret('api_key', 'API key', { help: 'Control panel, API Credentials: the row "API Key".' })]],
  capabilities: {
    // of CAA other clients name the fields differently (libdns and stalwart, 2025): it is shown
    types: ['A', 'AAAA', 'CNAME', 'MX', 'TXT', 'NS', 'SRV', 'PTR'],
    ...{ toggle: 'record', minTtl: 30 },
  },
  // no number is documented
  limits: { requests: 5, concurrency: 2 },
  load: () => import('./dynu.provider.js'),
});
