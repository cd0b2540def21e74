import { EXTRA_TYPES, RECORD_TYPES } from '../../dns/record.js';
import { defineProvider, SETS, secret, text } from '../provider.js';

/** PowerDNS Authoritative over its HTTP API: record sets without ids, native `disabled` (OpenAPI; seen on 4.7). */
export const powerdns = defineProvider({
  kind: 'powerdns',
  aliases: ['pdns'],
  label: 'PowerDNS Authoritative',
  docs: 'https://doc.powerdns.com/authoritative/http-api/',
  credentials: [
    [
      text('url', 'URL', {
        example: 'http://192.0.2.1:8081',
        kind: 'url',
        help: 'Of the API, such as http://192.0.2.1:8081; without /api/v1.',
      }),
      secret('api_key', 'API key'),
      text('server_id', 'Server ID', { required: false, default: 'localhost' }),
      text('nameservers', 'Name servers', {
        example: 'ns1.example.net,ns2.example.net',
        required: false,
        kind: 'list',
        help: 'Host names for the NS records of zones that are created here.',
      }),
    ],
  ],
  capabilities: {
    types: [...RECORD_TYPES, ...EXTRA_TYPES],
    ...{ ...SETS, toggle: 'record', atomic: true, chunk: 1000, createZone: true, minTtl: 0 },
    // both seen on 4.7, as 422
    ...{ judgesDisabled: true, hostTargets: true },
  },
  limits: { requests: 1000 },
  server: ({ url = '', endpoint, server_id: id = 'localhost' }) =>
    `${(endpoint || url).replace(/\/+$/, '')}?${encodeURIComponent(id)}`,
  load: () => import('./powerdns.provider.js'),
});
