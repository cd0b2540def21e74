import { RECORD_TYPES } from '../../dns/record.js';
import { defineProvider, SETS, secret, window } from '../provider.js';

/** NS1 Connect API v1: record sets at their own addresses, each written by itself. */
export const ns1 = defineProvider({
  kind: 'ns1',
  label: 'NS1',
  docs: 'https://developer.ibm.com/apis/catalog/ns1--ibm-ns1-connect-api/',
  api: 'https://api.nsone.net/v1',
  credentials: [[secret('api_key', 'API key', { help: 'With "View zones" and "Manage zones", of these zones only.' })]],
  capabilities: { types: [...RECORD_TYPES, 'ALIAS', 'PTR', 'NAPTR', 'DS', 'TLSA'], ...SETS },
  // 900 in 300 seconds (headers, recorded 2018), of which other clients of the key get a share
  limits: { requests: 10, more: [window(800, 300)], concurrency: 4 },
  load: () => import('./ns1.provider.js'),
});
