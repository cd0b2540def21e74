import { RECORD_TYPES } from '../../dns/record.js';
import { defineProvider, SETS, secret, text } from '../provider.js';

/** Constellix DNS v1: record sets by name and type, each with an id, written one by one. */
export const constellix = defineProvider({
  kind: 'constellix',
  label: 'Constellix',
  docs: 'https://api-docs.constellix.com/',
  api: 'https://api.dns.constellix.com/v1',
  credentials: [
    [
      text('api_key', 'API key', { help: 'Of a user who may change these domains and no more.' }),
      secret('secret_key', 'Secret key', { help: 'It comes with the API key.' }),
    ],
  ],
  capabilities: { types: [...RECORD_TYPES, 'ALIAS', 'PTR'], ...SETS },
  // answers name 300 (recorded 2018), but not in what time: taken for those of a minute
  limits: { requests: 5, concurrency: 4 },
  load: () => import('./constellix.provider.js'),
});
