import { RECORD_TYPES } from '../../dns/record.js';
import { defineProvider, secret } from '../provider.js';

/** IONOS hosting DNS API v1: records with ids, that can be disabled. */
export const ionos = defineProvider({
  kind: 'ionos',
  label: 'IONOS',
  docs: 'https://developer.hosting.ionos.com/docs/dns',
  api: 'https://api.hosting.ionos.com/dns/v1',
  credentials: [
    [
      secret('api_key', 'API key', {
        example: 'prefix.secret',
        help: 'prefix.secret, from https://developer.hosting.ionos.com/keys',
      }),
    ],
  ],
  capabilities: { types: [...RECORD_TYPES, 'TLSA'], minTtl: 60, toggle: 'record' },
  // IONOS names no numbers, and is said to answer 429 soon
  limits: { requests: 5, concurrency: 2 },
  load: () => import('./ionos.provider.js'),
});
