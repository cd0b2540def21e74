import { RECORD_TYPES } from '../../dns/record.js';
import { defineProvider, secret, text } from '../provider.js';

const PEM = 'In PEM form: My account, API, Key pairs. It opens all of the account; there are no smaller ones.';
const ADDRESSES = '"false" for a key pair that is accepted from listed addresses only.';
const GLOBAL = { required: false, default: 'true', help: ADDRESSES };

/** TransIP: all entries of a domain, written as a whole; a token for half an hour, asked for with a signature. */
export const transip = defineProvider({
  kind: 'transip',
  label: 'TransIP',
  docs: 'https://api.transip.nl/rest/docs.html',
  api: 'https://api.transip.nl/v6',
  credentials: [
    [
      text('login', 'User name'),
      secret('private_key', 'Private key', { multiline: true, help: PEM }),
      text('global_key', 'Key for all addresses', { ...GLOBAL, values: ['true', 'false'] }),
    ],
  ],
  capabilities: {
    types: [...RECORD_TYPES, 'ALIAS', 'NAPTR', 'SSHFP', 'TLSA'],
    ...{ ids: 'derived', ttlOf: 'set', replaces: 'zone', atomic: true, minTtl: 60 },
  },
  // by its header `x-rate-limit-limit`, in 15 minutes (recorded 2022); other clients get a share
  limits: { requests: 900, perSeconds: 900, concurrency: 4 },
  load: () => import('./transip.provider.js'),
});
