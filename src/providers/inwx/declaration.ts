import { RECORD_TYPES } from '../../dns/record.js';
import { defineProvider, secret, text } from '../provider.js';

/** INWX: records with ids, by JSON-RPC with a session in a cookie. */
export const inwx = defineProvider({
  kind: 'inwx',
  label: 'INWX',
  docs: 'https://www.inwx.com/en/help/apidoc',
  api: 'https://api.domrobot.com/jsonrpc',
  credentials: [
    [
      text('username', 'User name'),
      secret('password', 'Password', { help: 'Of a sub-account with the right for name servers, best of its own.' }),
      secret('shared_secret', 'Secret of the second factor', {
        ...{
          required: false,
          help: 'The text that an authenticator app is given, if the account has a second factor.',
        },
      }),
    ],
  ],
  capabilities: { types: [...RECORD_TYPES, 'PTR', 'SSHFP', 'TLSA'], minTtl: 300 },
  // not documented: a guess on the safe side
  limits: { requests: 10, concurrency: 4 },
  load: () => import('./inwx.provider.js'),
});
