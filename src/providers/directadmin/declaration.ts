import { defineProvider, secret, text } from '../provider.js';

/** DirectAdmin, the panel of a web server: records without ids, each named by its name and value. */
export const directadmin = defineProvider({
  kind: 'directadmin',
  label: 'DirectAdmin',
  docs: 'https://docs.directadmin.com/developer/api/legacy-api.html',
  credentials: [
    [
      text('url', 'URL', {
        example: 'https://panel.example.net:2222',
        kind: 'url',
        help: 'Of the panel, with its port, such as https://panel.example.net:2222.',
      }),
      text('user', 'User', { help: 'An administrator may name another user: admin|user.' }),
      secret('login_key', 'Login key', {
        help: 'Login Keys, Create Key; CMD_API_SHOW_DOMAINS and CMD_API_DNS_CONTROL are enough. The password, too.',
      }),
    ],
  ],
  capabilities: {
    // NS are shown only: clients disagree in which field its name and its target go, and it has no TTL
    types: ['A', 'AAAA', 'CNAME', 'MX', 'TXT', 'SRV', 'CAA', 'PTR'],
    ids: 'derived',
  },
  // each write makes a zone file anew; it is not said whether two of them wait for each other
  limits: { concurrency: 1 },
  load: () => import('./directadmin.provider.js'),
});
