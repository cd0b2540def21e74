import { RECORD_TYPES } from '../../dns/record.js';
import { defineProvider, SETS, secret, text } from '../provider.js';

/** Google Cloud DNS API v1: record sets without ids, changes that are carried out whole. */
export const googlecloud = defineProvider({
  kind: 'googlecloud',
  label: 'Google Cloud DNS',
  docs: 'https://cloud.google.com/dns/docs/reference/rest/v1',
  api: 'https://dns.googleapis.com/dns/v1',
  credentials: [
    [
      secret('service_account', 'Service account key', {
        multiline: true,
        help: 'The JSON of a key of a service account. The role "DNS Administrator" of the project, or of a zone, is enough.',
      }),
      text('project', 'Project', {
        example: 'my-project',
        required: false,
        help: 'Id of the project, where it is not that of the account.',
      }),
    ],
  ],
  capabilities: {
    types: [...RECORD_TYPES, 'PTR', 'NAPTR', 'DS', 'SSHFP', 'TLSA', 'SVCB', 'HTTPS'],
    ...{ ...SETS, atomic: true },
  },
  limits: { requests: 10 },
  load: () => import('./googlecloud.provider.js'),
});
