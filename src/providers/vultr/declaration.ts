import { RECORD_TYPES } from '../../dns/record.js';
import { defineProvider, secret } from '../provider.js';

const HELP = 'Account, API: the address of this server has to be in its access control.';

/** Vultr: records with ids, pages with cursors. */
export const vultr = defineProvider({
  kind: 'vultr',
  label: 'Vultr',
  docs: 'https://www.vultr.com/api/#tag/dns',
  api: 'https://api.vultr.com/v2',
  credentials: [[secret('api_key', 'API key', { help: HELP })]],
  capabilities: { types: [...RECORD_TYPES, 'SSHFP'], minTtl: 120 },
  // 30 a second and address (Vultr's documentation)
  limits: { requests: 20 },
  load: () => import('./vultr.provider.js'),
});
