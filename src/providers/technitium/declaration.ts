import { RECORD_TYPES } from '../../dns/record.js';
import { defineProvider, SETS, secret, text } from '../provider.js';

/** Technitium DNS Server: values without ids, added, changed and taken away one by one, native `disable`. */
export const technitium = defineProvider({
  kind: 'technitium',
  label: 'Technitium DNS Server',
  docs: 'https://github.com/TechnitiumSoftware/DnsServer/blob/master/APIDOCS.md',
  credentials: [
    [
      text('url', 'URL', {
        example: 'http://192.0.2.1:5380',
        kind: 'url',
        help: 'Of the web console, such as http://192.0.2.1:5380; without /api.',
      }),
      secret('token', 'API token', {
        help: 'Administration, Sessions, Create Token. Of a user who may modify and delete in the zones is enough.',
      }),
    ],
  ],
  capabilities: {
    // other types (DS, SSHFP, TLSA, SVCB …) have parts by name there, and are shown only; ALIAS is its ANAME
    types: [...RECORD_TYPES, 'PTR', 'ALIAS'],
    // one TTL a set: a value with another one changes that of all (source of 2025)
    ...{ ...SETS, toggle: 'record', createZone: true },
  },
  limits: { requests: 1000 },
  load: () => import('./technitium.provider.js'),
});
