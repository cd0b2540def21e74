import { RECORD_TYPES } from '../../dns/record.js';
import { defineProvider, secret, text } from '../provider.js';

const ACCOUNT = text('account_id', 'Account ID', {
  example: '1010',
  required: false,
  help: 'For tokens of a user with several accounts.',
});

/** DNSimple: records with ids, pages with totals. */
export const dnsimple = defineProvider({
  kind: 'dnsimple',
  label: 'DNSimple',
  docs: 'https://developer.dnsimple.com/v2/zones/records/',
  api: 'https://api.dnsimple.com/v2',
  credentials: [[secret('token', 'API access token', { help: 'Of the account, not of a user.' }), ACCOUNT]],
  capabilities: { types: [...RECORD_TYPES, 'ALIAS', 'PTR', 'SSHFP'], minTtl: 60 },
  limits: { requests: 2000, perSeconds: 3600 }, // of 2400 (header `x-ratelimit-limit`, official answers)
  load: () => import('./dnsimple.provider.js'),
});
