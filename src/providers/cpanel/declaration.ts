import { RECORD_TYPES } from '../../dns/record.js';
import { defineProvider, SETS, secret, text } from '../provider.js';

/** cPanel UAPI: lines of a zone file, all that change written in one call while the serial is the one that was read. */
export const cpanel = defineProvider({
  kind: 'cpanel',
  label: 'cPanel',
  docs: 'https://api.docs.cpanel.net/openapi/cpanel/operation/dns-mass_edit_zone/',
  credentials: [
    [
      text('url', 'URL', {
        example: 'https://server.example.net:2083',
        kind: 'url',
        help: 'Of cPanel with its port: https://server.example.net:2083',
      }),
      text('username', 'User', { help: 'Of the cPanel account.' }),
      secret('token', 'API token', { help: 'Security, Manage API Tokens: of the account, not of WHM.' }),
    ],
  ],
  capabilities: { types: [...RECORD_TYPES, 'PTR'], ...SETS, atomic: true },
  limits: { requests: 5, concurrency: 2 }, // each server sets its own: low enough for most
  load: () => import('./cpanel.provider.js'),
});
