import { RECORD_TYPES } from '../../dns/record.js';
import { defineProvider, secret } from '../provider.js';

/** Linode (Akamai): records with ids, pages with totals, TTLs of a list to which others are rounded. */
export const linode = defineProvider({
  kind: 'linode',
  label: 'Linode',
  docs: 'https://techdocs.akamai.com/linode-api/reference/get-domains',
  api: 'https://api.linode.com/v4',
  credentials: [[secret('token', 'Personal access token', { help: 'With Read/Write for "Domains", nothing else.' })]],
  capabilities: { types: RECORD_TYPES, minTtl: 300, maxTtl: 2419200 },
  limits: { requests: 180, perSeconds: 60 }, // lists: 200 a minute (Linode's description of its API, November 2023)
  load: () => import('./linode.provider.js'),
});
