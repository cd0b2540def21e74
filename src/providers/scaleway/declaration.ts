import { RECORD_TYPES } from '../../dns/record.js';
import { defineProvider, secret } from '../provider.js';

/** Scaleway Domains and DNS v2beta1: records with ids, lists of changes in one call. */
export const scaleway = defineProvider({
  kind: 'scaleway',
  label: 'Scaleway',
  docs: 'https://www.scaleway.com/en/developers/api/domains-and-dns/',
  api: 'https://api.scaleway.com/domain/v2beta1',
  credentials: [
    [
      secret('secret_key', 'Secret key', {
        help: 'Of an API key (IAM) with the permission set "DomainsDNSFullAccess" in the project of the domain.',
      }),
    ],
  ],
  capabilities: {
    types: [...RECORD_TYPES, 'PTR', 'ALIAS', 'TLSA', 'NAPTR', 'SSHFP'],
    ...{ remark: true, minTtl: 60, maxTtl: 2592000 },
  },
  limits: { requests: 10, concurrency: 4 },
  load: () => import('./scaleway.provider.js'),
});
