import { RECORD_TYPES } from '../../dns/record.js';
import { defineProvider, secret, text } from '../provider.js';

const KEY = secret('api_token', 'API token', { help: 'Account settings, Tokens: of the team with the domains.' });
const TEAM = 'team_… in the general settings of the team. Left empty: the domains of the account itself.';
/** Vercel: records with ids of their own, pages by the time at which entries were made. */
export const vercel = defineProvider({
  kind: 'vercel',
  label: 'Vercel',
  docs: 'https://vercel.com/docs/rest-api/dns',
  api: 'https://api.vercel.com',
  credentials: [[KEY, text('team_id', 'Team ID', { example: 'team_0123456789abcdef', required: false, help: TEAM })]],
  capabilities: { types: [...RECORD_TYPES, 'ALIAS', 'HTTPS'], remark: true, yields: true, minTtl: 60 },
  // 50 changes a minute and 100 new records an hour, each counted by itself (dnscontrol 2025, headers recorded 2021)
  limits: { requests: 50, perSeconds: 60 },
  load: () => import('./vercel.provider.js'),
});
