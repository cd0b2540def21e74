import { isIPv6 } from 'node:net';
import { RECORD_TYPES } from '../../dns/record.js';
import { TSIG_ALGORITHMS } from '../../dns/tsig.js';
import { defineProvider, secret, text } from '../provider.js';

/**
 * Name servers that take dynamic updates: BIND, Knot, PowerDNS and others. Zones are read by transfer, changes go out
 * as UPDATE.
 */
export const rfc2136 = defineProvider({
  kind: 'rfc2136',
  label: 'Dynamic updates (RFC 2136)',
  docs: 'https://www.rfc-editor.org/rfc/rfc2136',
  credentials: [
    [
      text('server', 'Primary server', {
        example: 'ns1.example.net',
        address: true,
        help: 'Host name or address of the server that takes the updates.',
      }),
      text('port', 'Port', { kind: 'number', required: false, default: '53', address: true }),
      text('tsig_name', 'Key name', {
        example: 'zoneward.example.com',
        help: 'The TSIG key needs the right to transfer and to update the zones.',
      }),
      text('tsig_algorithm', 'Key algorithm', { required: false, default: 'hmac-sha256', values: TSIG_ALGORITHMS }),
      secret('tsig_secret', 'Key secret', { help: 'Base64, as in the configuration of the server.' }),
      text('zones', 'Zones', {
        example: 'example.com,example.net',
        kind: 'list',
        help: 'Names, separated by commas; servers cannot list their zones.',
      }),
      text('endpoint', 'Endpoint', {
        example: 'dns://ns1.example.net:53',
        required: false,
        help: 'host, host:port or dns://host:port, in place of server and port. Usually left empty.',
      }),
    ],
  ],
  capabilities: {
    types: [
      ...RECORD_TYPES,
      ...(['PTR', 'SSHFP', 'TLSA', 'DS', 'NAPTR', 'URI', 'RP', 'DHCID', 'DNAME', 'OPENPGPKEY', 'SMIMEA'] as const),
    ],
    ids: 'derived',
    ttlOf: 'set',
    replaces: 'set',
    atomic: true,
    minTtl: 0,
    checksNames: true,
    // with prerequisites and short values so many fit into one message
    chunk: 100,
  },
  server: ({ endpoint, server = '', port = '53' }) => {
    const given = (endpoint?.trim().replace(/^dns:\/\/|\/$/g, '') || server).toLowerCase();
    return isIPv6(given) || !/:\d+$/.test(given) ? `${given}:${port}` : given;
  },
  load: () => import('./rfc2136.provider.js'),
});
