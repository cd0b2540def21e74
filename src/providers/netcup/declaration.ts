import { defineProvider, secret, text } from '../provider.js';

/** netcup: records with ids in lists of changes, by JSON-RPC with a session; one TTL for all of a zone. */
export const netcup = defineProvider({
  kind: 'netcup',
  label: 'netcup',
  docs: 'https://ccp.netcup.net/run/webservice/servers/endpoint.php',
  api: 'https://ccp.netcup.net/run/webservice/servers/endpoint.php?JSON',
  credentials: [
    [
      text('customer_number', 'Customer number', { example: '123456' }),
      secret('api_key', 'API key', { help: 'Customer control panel, Master data, API. It opens all of the account.' }),
      secret('api_password', 'API password', { help: 'In the same place; it is shown once.' }),
      text('domains', 'Domains', {
        example: 'example.com,example.net',
        ...{ required: false, kind: 'list' },
        help: 'Names of the zones: netcup lists them to resellers only, who may leave this empty.',
      }),
    ],
  ],
  capabilities: {
    // the API ignores NS (dnscontrol 2021); parts of other types are not documented, and they are shown only
    types: ['A', 'AAAA', 'CNAME', 'MX', 'TXT', 'SRV', 'CAA'],
  },
  // "More than 180 requests per minute" is an error of its own
  limits: { requests: 150, perSeconds: 60, concurrency: 4 },
  load: () => import('./netcup.provider.js'),
});
