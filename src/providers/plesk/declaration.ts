import { defineProvider, secret, text } from '../provider.js';

const URL_ = text('url', 'URL', {
  example: 'https://plesk.example.net:8443',
  kind: 'url',
  help: 'Of the server, such as https://plesk.example.net:8443.',
});

/** Plesk by its XML API: records with ids, which are made and deleted; one TTL for all of a zone. */
export const plesk = defineProvider({
  kind: 'plesk',
  label: 'Plesk',
  docs: 'https://docs.plesk.com/en-US/obsidian/api-rpc/reference/managing-dns.34756/',
  credentials: [
    [URL_, secret('secret_key', 'Secret key', { help: 'plesk bin secret_key -c; it is of the administrator.' })],
    [
      ...[URL_, text('username', 'User name', { help: 'Of a customer who may manage DNS zones is enough.' })],
      secret('password', 'Password'),
    ],
  ],
  // parts of SRV, CAA and others are not documented well enough, and they are shown only
  capabilities: { types: ['A', 'AAAA', 'CNAME', 'MX', 'TXT', 'NS'] },
  // a server of one's own; each call starts a PHP process there
  limits: { requests: 10, concurrency: 2 },
  load: () => import('./plesk.provider.js'),
});
