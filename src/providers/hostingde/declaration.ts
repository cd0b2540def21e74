import { RECORD_TYPES } from '../../dns/record.js';
import { defineProvider, type ProviderDefinition, secret } from '../provider.js';

/** hosting.de: records with ids, lists of changes in one call. */
export const hostingde = defineProvider({
  kind: 'hostingde',
  label: 'hosting.de',
  docs: 'https://www.hosting.de/api/#dns',
  api: 'https://secure.hosting.de/api/dns/v1/json',
  credentials: [
    [secret('auth_token', 'API key', { help: 'Of the profile in the control panel, with the rights for DNS alone.' })],
  ],
  capabilities: {
    types: [...RECORD_TYPES, 'ALIAS', 'PTR', 'DS', 'SSHFP', 'TLSA'],
    ...{ minTtl: 60, maxTtl: 31556926 },
  },
  // no limit is documented: a conservative guess
  limits: { requests: 10, concurrency: 4 },
  load: () => import('./hostingde.provider.js'),
});

/** http.net, a brand of the same company: the same API at another address. */
export const httpnet: ProviderDefinition = {
  ...hostingde,
  kind: 'httpnet',
  label: 'http.net',
  docs: 'https://www.http.net/docs/api/',
  api: 'https://partner.http.net/api/dns/v1/json',
};
