import { defineProvider, secret, text } from '../provider.js';

const password = secret('auth_password', 'API password', { help: 'Of that API user; not that of the account.' });

/** ClouDNS: records with ids, all of a zone in one answer. Other types, and its own, are shown only. */
export const cloudns = defineProvider({
  kind: 'cloudns',
  label: 'ClouDNS',
  docs: 'https://www.cloudns.net/wiki/article/41/',
  api: 'https://api.cloudns.net/dns',
  credentials: [
    [text('auth_id', 'API user (auth-id)', { help: 'Of "API & Resellers" there.' }), password],
    [text('sub_auth_id', 'API sub user (sub-auth-id)', { help: 'May be limited to single zones.' }), password],
  ],
  capabilities: {
    types: ['A', 'AAAA', 'CNAME', 'MX', 'TXT', 'NS', 'SRV', 'CAA', 'ALIAS', 'PTR'],
    ...{ toggle: 'record', minTtl: 60, maxTtl: 2592000 },
  },
  // not documented; as dnscontrol found it (2026)
  limits: { requests: 10, perSeconds: 1 },
  load: () => import('./cloudns.provider.js'),
});
