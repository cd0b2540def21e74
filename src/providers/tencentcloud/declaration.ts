import { RECORD_TYPES } from '../../dns/record.js';
import { defineProvider, secret, text } from '../provider.js';

const help = 'Of a sub-user (CAM) with the policy QcloudDNSPodFullAccess and no other.';

/** Tencent Cloud DNSPod (API 2021-03-23): records with ids, lines, weights, remarks; signature TC3-HMAC-SHA256. */
export const tencentcloud = defineProvider({
  ...{ kind: 'tencentcloud', aliases: ['tencent'] },
  label: 'Tencent Cloud DNSPod',
  docs: 'https://cloud.tencent.com/document/api/1427/56194',
  api: 'https://dnspod.tencentcloudapi.com',
  credentials: [[text('secret_id', 'SecretId', { help }), secret('secret_key', 'SecretKey')]],
  capabilities: {
    types: RECORD_TYPES,
    ...{ toggle: 'record', weight: true, remark: true },
    // default, China Telecom, Unicom, CERNET, Mobile, abroad, China, search engines; a zone's own facts tell the others
    lines: ['default', '10=0', '10=1', '10=2', '10=3', '3=0', '7=0', '80=0'],
    // official model; 600 in the free plan
    ...{ minTtl: 1, maxTtl: 604_800 },
  },
  // 20 a second for each action that writes, more for others (documentation)
  limits: { requests: 20 },
  load: () => import('./tencentcloud.provider.js'),
});
