import { RECORD_TYPES } from '../../dns/record.js';
import { defineProvider, secret } from '../provider.js';

/** DigitalOcean API v2: records with ids, pages with totals. */
export const digitalocean = defineProvider({
  kind: 'digitalocean',
  label: 'DigitalOcean',
  docs: 'https://docs.digitalocean.com/reference/api/',
  api: 'https://api.digitalocean.com/v2',
  credentials: [[secret('token', 'Personal access token', { help: 'With all of the scope "domain".' })]],
  capabilities: { types: RECORD_TYPES, minTtl: 30 },
  // 5000 an hour (header `ratelimit-limit`, recorded 2020); other clients of the token get a share
  limits: { requests: 4000, perSeconds: 3600 },
  load: () => import('./digitalocean.provider.js'),
});
