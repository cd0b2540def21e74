import { RECORD_TYPES } from '../../dns/record.js';
import { defineProvider, secret, text } from '../provider.js';

/** Exoscale API v2: records with ids, written by operations. */
export const exoscale = defineProvider({
  kind: 'exoscale',
  label: 'Exoscale',
  docs: 'https://openapi-v2.exoscale.com/topic/topic-dns',
  // of any region: zones belong to the organization
  api: 'https://api-ch-gva-2.exoscale.com/v2',
  credentials: [
    [
      text('api_key', 'API key', { help: 'IAM, API keys, of a role that allows the service class "dns" alone.' }),
      secret('api_secret', 'API secret', { help: 'In the same place; it is shown once.' }),
    ],
  ],
  capabilities: { types: [...RECORD_TYPES, 'ALIAS', 'PTR', 'SSHFP'] },
  // no number is told: few enough for one customer
  limits: { requests: 10, concurrency: 4 },
  load: () => import('./exoscale.provider.js'),
});
