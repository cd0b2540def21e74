import { defineProvider, secret, text } from '../provider.js';

const help = 'Of a sub-user with the policy DNSFullControlPolicy. Console, "Security Authentication".';

export const baidu = defineProvider({
  kind: 'baidu',
  label: 'Baidu Cloud DNS',
  docs: 'https://cloud.baidu.com/doc/DNS/s/El4s7lssr',
  api: 'https://dns.baidubce.com',
  credentials: [[text('access_key_id', 'Access Key ID', { help }), secret('secret_access_key', 'Secret Access Key')]],
  // the lines of all plans (documented 2022); Enterprise zones have more
  capabilities: {
    types: ['A', 'AAAA', 'CNAME', 'MX', 'TXT', 'NS', 'SRV'],
    ...{ toggle: 'record', remark: true, lines: ['default', 'ct', 'cnc', 'cmnet', 'edu', 'search'] },
  },
  // not documented
  limits: { requests: 10, concurrency: 4 },
  load: () => import('./baidu.provider.js'),
});
