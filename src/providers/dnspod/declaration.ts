import { RECORD_TYPES } from '../../dns/record.js';
import { defineProvider, secret, text } from '../provider.js';

const help =
  'ID and token of "DNSPod Token" in the console, under account, API keys. It can do all that the account can.';

/** DNSPod with its own token (dnsapi.cn): records with ids, lines, weights, remarks; forms, answers all HTTP 200. */
export const dnspod = defineProvider({
  ...{ kind: 'dnspod', aliases: ['dnspod-token'] },
  label: 'DNSPod (token)',
  docs: 'https://docs.dnspod.cn/api/',
  api: 'https://dnsapi.cn',
  credentials: [[text('id', 'ID', { example: '123456', help }), secret('token', 'Token')]],
  capabilities: {
    types: RECORD_TYPES,
    ...{ toggle: 'record', weight: true, remark: true },
    // default, China Telecom, Unicom, CERNET, Mobile, abroad, China, search engines; a zone's own facts tell the others
    lines: ['default', '10=0', '10=1', '10=2', '10=3', '3=0', '7=0', '80=0'],
    // documented; 600 in the free plan
    ...{ minTtl: 1, maxTtl: 604_800 },
  },
  limits: { requests: 20, concurrency: 4 },
  load: () => import('./dnspod.provider.js'),
});
