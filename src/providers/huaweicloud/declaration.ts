import { RECORD_TYPES } from '../../dns/record.js';
import { defineProvider, SETS, secret, text } from '../provider.js';

const AK = 'Of an IAM user with dns:zone:list and dns:recordset:*. Console, "My Credentials".';
const REGION = 'Such as ap-southeast-1, for keys that work in one region only. Usually left empty.';

export const huaweicloud = defineProvider({
  ...{ kind: 'huaweicloud', aliases: ['huawei'] },
  label: 'Huawei Cloud DNS',
  docs: 'https://support.huaweicloud.com/intl/en-us/api-dns/dns_api_60000.html',
  api: 'https://dns.myhuaweicloud.com',
  credentials: [
    [
      text('access_key_id', 'Access Key ID (AK)', { help: AK }),
      secret('secret_access_key', 'Secret Access Key (SK)'),
      text('region', 'Region', { example: 'cn-north-4', required: false, address: true, help: REGION }),
      text('project_id', 'Project ID', { required: false, help: 'Usually left empty.' }),
    ],
  ],
  // of the lines the usual ones: `zoneInfo` asks for all
  capabilities: { types: RECORD_TYPES, ...SETS, lines: ['default', 'Dianxin', 'Liantong', 'Yidong'] },
  // not documented; who goes too fast is told so
  limits: { requests: 20, concurrency: 4 },
  load: () => import('./huaweicloud.provider.js'),
});
