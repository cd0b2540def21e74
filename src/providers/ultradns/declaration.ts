import { RECORD_TYPES } from '../../dns/record.js';
import { defineProvider, SETS, secret, text } from '../provider.js';

const HELP = 'Of a user of its own, best an API user, who may read and write the zones.';

/** UltraDNS REST API v2 (zones: v3): record sets without ids. */
export const ultradns = defineProvider({
  kind: 'ultradns',
  label: 'UltraDNS',
  docs: 'https://docs.ultradns.com/',
  api: 'https://restapi.ultradns.com',
  credentials: [[text('username', 'User name', { help: HELP }), secret('password', 'Password')]],
  capabilities: { types: [...RECORD_TYPES, 'PTR'], ...SETS },
  // no number is documented
  limits: { requests: 5, concurrency: 2 },
  load: () => import('./ultradns.provider.js'),
});
