import { RECORD_TYPES } from '../../dns/record.js';
import { defineProvider, secret, text } from '../provider.js';

/** Azure DNS, API of 2023-07-01-preview: record sets, each with an entity tag that makes its writes conditional. */
export const azure = defineProvider({
  kind: 'azure',
  label: 'Azure DNS',
  docs: 'https://learn.microsoft.com/rest/api/dns/',
  api: 'https://management.azure.com',
  credentials: [
    [
      text('tenant_id', 'Directory (tenant) ID', { example: '2f1d9b0e-6a3c-4c55-9a57-0c7f4f4b1a10' }),
      text('client_id', 'Application (client) ID', {
        example: '2f1d9b0e-6a3c-4c55-9a57-0c7f4f4b1a10',
        help: 'Of an app registration with the role "DNS Zone Contributor" in the resource group.',
      }),
      secret('client_secret', 'Client secret', { help: 'Its value, not its id. It expires: note when.' }),
      text('subscription_id', 'Subscription ID', { example: '2f1d9b0e-6a3c-4c55-9a57-0c7f4f4b1a10' }),
      text('resource_group', 'Resource group', {
        example: 'dns-zones',
        required: false,
        help: 'The group that holds the zones. Left empty: all zones of the subscription.',
      }),
      text('cloud', 'Cloud', {
        ...{ required: false, default: 'public', values: ['public', 'china', 'us-government'], address: true },
        help: 'Which of the separate clouds of Azure the subscription is in.',
      }),
    ],
  ],
  server: ({ endpoint, cloud = 'public' }) => endpoint || cloud.replace('public', ''),
  capabilities: {
    types: [...RECORD_TYPES, 'PTR', 'DS', 'NAPTR', 'TLSA'],
    ids: 'derived',
    ttlOf: 'set',
    replaces: 'set',
  },
  // 499 reads were left after the first (recorded 2023); Azure counts in five minutes
  limits: { requests: 500, perSeconds: 300 },
  load: () => import('./azure.provider.js'),
});
