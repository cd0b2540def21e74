import { RECORD_TYPES } from '../../dns/record.js';
import { defineProvider, secret, text } from '../provider.js';

const TYPES = [...RECORD_TYPES, 'PTR', 'NAPTR', 'DS'] as const;
/** AWS Route 53: record sets without ids, batches that are carried out whole. */
export const route53 = defineProvider({
  kind: 'route53',
  label: 'AWS Route 53',
  docs: 'https://docs.aws.amazon.com/Route53/latest/APIReference/',
  api: 'https://route53.amazonaws.com',
  credentials: [[text('access_key_id', 'Access key id'), secret('secret_access_key', 'Secret access key')]],
  capabilities: { types: TYPES, ids: 'derived', ttlOf: 'set', replaces: 'set', atomic: true },
  limits: { requests: 5 },
  load: () => import('./route53.provider.js'),
});
