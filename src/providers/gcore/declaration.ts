import { RECORD_TYPES } from '../../dns/record.js';
import { defineProvider, SETS, secret } from '../provider.js';

/** Gcore DNS v2: record sets by name and type, written one by one; their records can be switched off. */
export const gcore = defineProvider({
  kind: 'gcore',
  label: 'Gcore DNS',
  docs: 'https://api.gcore.com/docs/dns',
  api: 'https://api.gcore.com/dns/v2',
  credentials: [[secret('api_token', 'API token', { help: 'Permanent, of a user who may change DNS and no more.' })]],
  capabilities: { types: [...RECORD_TYPES, 'PTR'], ...SETS, toggle: 'record', minTtl: 120 }, // as lego
  limits: { requests: 10, concurrency: 4 }, // none is documented: a low rate
  load: () => import('./gcore.provider.js'),
});
