import { defineProvider, secret, text, window } from '../provider.js';

const HELP = 'Of "API Settings" there; it opens the whole account, two-step login too.';

/** Name.com API v4: records with ids. NS of the apex are its own; ALIAS is called ANAME there. */
export const namecom = defineProvider({
  kind: 'namecom',
  label: 'Name.com',
  docs: 'https://docs.name.com/',
  api: 'https://api.name.com/v4',
  credentials: [[text('username', 'User name'), secret('token', 'API token', { help: HELP })]],
  capabilities: { types: ['A', 'AAAA', 'ALIAS', 'CNAME', 'MX', 'NS', 'SRV', 'TXT'], minTtl: 300 },
  // of 20 a second and 3000 an hour, from memory (not seen documented); other clients of the account get a share
  limits: { requests: 15, perSeconds: 1, more: [window(2500, 3600)] },
  load: () => import('./namecom.provider.js'),
});
