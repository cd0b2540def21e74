import { defineProvider, secret } from '../provider.js';

const KEY = secret('api_key', 'API key', { help: 'From Account, API Access; each domain has to be opted in as well.' });

/** Porkbun: records with ids, all of a domain in one list; its domains are those that are registered there. */
export const porkbun = defineProvider({
  kind: 'porkbun',
  label: 'Porkbun',
  docs: 'https://porkbun.com/api/json/v3/documentation',
  api: 'https://api.porkbun.com/api/json/v3',
  credentials: [[KEY, secret('secret_api_key', 'Secret API key')]],
  capabilities: {
    types: ['A', 'AAAA', 'ALIAS', 'CAA', 'CNAME', 'HTTPS', 'MX', 'NS', 'SRV', 'SSHFP', 'SVCB', 'TLSA', 'TXT'],
    ...{ remark: true, minTtl: 600 },
  },
  // 1 a second and key by the word of its support (2023, 2024); more is a status of 503
  limits: { requests: 1, concurrency: 1 },
  load: () => import('./porkbun.provider.js'),
});
