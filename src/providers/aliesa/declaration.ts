import { RECORD_TYPES } from '../../dns/record.js';
import { defineProvider, secret, text } from '../provider.js';

const help = 'Of a RAM user with the policy AliyunESAFullAccess and no other; not of the account itself.';

/** Alibaba Cloud ESA (official model, 2024-09-10): sites that are delegated to it; signature ACS3-HMAC-SHA256. */
export const aliesa = defineProvider({
  ...{ kind: 'aliesa', label: 'Alibaba Cloud ESA' },
  docs: 'https://www.alibabacloud.com/help/en/edge-security-acceleration/esa/api-esa-2024-09-10-overview',
  api: 'https://esa.cn-hangzhou.aliyuncs.com',
  credentials: [[text('access_key_id', 'AccessKey ID', { help }), secret('access_key_secret', 'AccessKey Secret')]],
  capabilities: {
    types: [...RECORD_TYPES, 'URI', 'SSHFP', 'TLSA'],
    ...{ proxiedTypes: ['A', 'AAAA', 'CNAME'], remark: true, minTtl: 30, maxTtl: 86_400, automaticTtl: 1 },
  },
  limits: { requests: 10, concurrency: 4 }, // none is documented: a low rate
  load: () => import('./aliesa.provider.js'),
});
