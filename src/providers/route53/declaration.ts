import { RECORD_TYPES } from '../../dns/record.js';
import { defineProvider, SETS, secret, text } from '../provider.js';

const TYPES = [...RECORD_TYPES, 'PTR', 'NAPTR', 'DS', 'SSHFP', 'TLSA', 'SVCB', 'HTTPS'] as const;
/** AWS Route 53: record sets without ids, batches that are carried out whole. */
export const route53 = defineProvider({
  kind: 'route53',
  label: 'AWS Route 53',
  docs: 'https://docs.aws.amazon.com/Route53/latest/APIReference/',
  api: 'https://route53.amazonaws.com',
  credentials: [
    [
      text('access_key_id', 'Access key ID'),
      secret('secret_access_key', 'Secret access key'),
      secret('session_token', 'Session token', {
        ...{ required: false, help: 'Of temporary credentials (STS) alone, which end after some hours.' },
      }),
      text('partition', 'Partition', {
        ...{ required: false, default: 'aws', values: ['aws', 'aws-cn', 'aws-us-gov'], address: true },
        help: 'aws-cn: the regions of China, aws-us-gov: GovCloud. Each has accounts of its own.',
      }),
    ],
  ],
  server: ({ endpoint, partition = 'aws' }) => endpoint || partition.replace(/^aws$/, ''),
  capabilities: { types: TYPES, ...SETS, atomic: true, minTtl: 0 },
  limits: { requests: 5 },
  load: () => import('./route53.provider.js'),
});
