import { defineProvider, secret, text, window } from '../provider.js';

/** Namecheap: all hosts of a domain, written as a whole; those of its own types (URL, FRAME, MXE) are read-only. */
export const namecheap = defineProvider({
  kind: 'namecheap',
  label: 'Namecheap',
  docs: 'https://www.namecheap.com/support/api/intro/',
  api: 'https://api.namecheap.com/xml.response',
  credentials: [
    [
      text('api_user', 'User name'),
      secret('api_key', 'API key'),
      text('client_ip', 'Address of this server', {
        example: '192.0.2.10',
        help: 'IPv4, as it is in the list of allowed addresses there.',
      }),
      text('username', 'User whose domains these are', { required: false, help: 'If it is not the one above.' }),
      text('force', 'Write domains with Dynamic DNS', {
        ...{ required: false, default: 'false', values: ['true', 'false'] },
        help: 'Every write of a domain ends Dynamic DNS of all its hosts: without "true" such a write is refused.',
      }),
    ],
  ],
  capabilities: {
    // SRV has undocumented commands of its own (dnscontrol 2026), and is left alone; TTL 1799 is called automatic there
    types: ['A', 'AAAA', 'ALIAS', 'CAA', 'CNAME', 'MX', 'NS', 'TXT'],
    ...{ ids: 'derived', ttlOf: 'set', replaces: 'zone', atomic: true, minTtl: 60, maxTtl: 60000 },
  },
  // by the word of its support; with a status of 405 it says that they are reached (dnscontrol 2017)
  limits: { requests: 20, perSeconds: 60, more: [window(700, 3600), window(8000, 86400)] },
  load: () => import('./namecheap.provider.js'),
});
