import { RECORD_TYPES } from '../../dns/record.js';
import { defineProvider, secret } from '../provider.js';

const HELP = 'Config, Account Information, API Keys: both belong together.';

/** DNS Made Easy REST API 2.0: records with ids, requests signed by their date. */
export const dnsmadeeasy = defineProvider({
  kind: 'dnsmadeeasy',
  label: 'DNS Made Easy',
  docs: 'https://api-docs.dnsmadeeasy.com/',
  api: 'https://api.dnsmadeeasy.com/V2.0',
  credentials: [[secret('api_key', 'API key', { help: HELP }), secret('secret_key', 'Secret key')]],
  capabilities: { types: [...RECORD_TYPES, 'PTR'] },
  // 150 in five minutes (header `x-dnsme-requestlimit`, recorded 2018); other clients of the key get a share
  limits: { requests: 120, perSeconds: 300, concurrency: 2 },
  load: () => import('./dnsmadeeasy.provider.js'),
});
