import { EXTRA_TYPES, RECORD_TYPES } from '../../dns/record.js';
import { defineProvider, SETS, secret, text } from '../provider.js';

/** Akamai Edge DNS API v2: record sets by name and type, written one by one. */
export const akamai = defineProvider({
  kind: 'akamai',
  aliases: ['edgedns'],
  label: 'Akamai Edge DNS',
  docs: 'https://techdocs.akamai.com/edge-dns/reference/edge-dns-api',
  credentials: [
    [
      text('url', 'URL', {
        example: 'https://akab-0123456789abcdef.luna.akamaiapis.net',
        kind: 'url',
        help: 'https:// and the `host` of the API client: akab-….luna.akamaiapis.net',
      }),
      text('client_token', 'Client token'),
      secret('client_secret', 'Client secret'),
      secret('access_token', 'Access token'),
      text('account_switch_key', 'Account switch key', { required: false, help: 'Of partners. Usually left empty.' }),
    ],
  ],
  capabilities: { types: [...RECORD_TYPES, ...EXTRA_TYPES.filter((type) => !/^(ALIAS|URI)$/.test(type))], ...SETS },
  limits: { requests: 5, concurrency: 2 }, // none is documented: a low rate
  load: () => import('./akamai.provider.js'),
});
