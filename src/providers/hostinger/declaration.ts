import { RECORD_TYPES } from '../../dns/record.js';
import { defineProvider, SETS, secret } from '../provider.js';

/** Hostinger: record sets of domains that are registered there, written one by one. */
export const hostinger = defineProvider({
  kind: 'hostinger',
  label: 'Hostinger',
  docs: 'https://developers.hostinger.com/#tag/dns-zone',
  api: 'https://developers.hostinger.com',
  credentials: [[secret('api_token', 'API token', { help: 'hPanel, account, API: it can do all that its user can.' })]],
  capabilities: {
    types: [...RECORD_TYPES, 'ALIAS'],
    // less is refused (clients of 2026)
    ...{ ...SETS, minTtl: 60 },
  },
  // there are limits, whose numbers are not documented: a conservative guess
  limits: { requests: 60, perSeconds: 60, concurrency: 2 },
  load: () => import('./hostinger.provider.js'),
});
