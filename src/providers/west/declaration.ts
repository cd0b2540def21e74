import { defineProvider, secret, text } from '../provider.js';

const LINES = ['default', 'LTEL', 'LCNC', 'LMOB', 'LEDU', 'LSEO', 'LFOR'];
const help = 'Of the API settings of an agent, not that of the login.';

/** West.cn: records with ids, lines, switched off natively; answers in GBK. Other types are shown only. */
export const west = defineProvider({
  kind: 'west',
  label: 'West.cn',
  docs: 'https://www.west.cn/CustomerCenter/doc/apiv2.html',
  api: 'https://api.west.cn/api/v2',
  credentials: [[text('username', 'User name'), secret('api_password', 'API password', { help })]],
  capabilities: { types: ['A', 'AAAA', 'CNAME', 'MX', 'TXT'], toggle: 'record', minTtl: 60, lines: LINES },
  limits: { requests: 5, perSeconds: 1, concurrency: 2 }, // not documented
  load: () => import('./west.provider.js'),
});
