import { defineProvider, secret, text } from '../provider.js';

/** regfish: records with ids of their own; the API does not list the domains. */
export const regfish = defineProvider({
  kind: 'regfish',
  label: 'regfish',
  docs: 'https://regfish.readme.io/',
  api: 'https://api.regfish.de',
  credentials: [
    [
      secret('api_key', 'API key', { help: 'My account, Security, API keys. It is of the whole account.' }),
      text('domains', 'Domains', {
        example: 'example.com,example.net',
        kind: 'list',
        help: 'Names, separated by commas: the API does not list them.',
      }),
    ],
  ],
  // what regfish names for its API (2026); how the parts of SRV are sent is not known, and it is shown only
  capabilities: { types: ['A', 'AAAA', 'ALIAS', 'CAA', 'CNAME', 'MX', 'TXT'] },
  // 500 a minute (header `ratelimit-policy`, recorded 2024); other clients of the key get a share
  limits: { requests: 400, perSeconds: 60 },
  load: () => import('./regfish.provider.js'),
});
