import { RECORD_TYPES } from '../../dns/record.js';
import { defineProvider, secret, text } from '../provider.js';

const help = 'Of an IAM user with DNSFullAccess, or with the actions of DNS on the zones. Console, "API access keys".';

export const volcengine = defineProvider({
  ...{ kind: 'volcengine', aliases: ['volc', 'huoshan'] },
  label: 'Volcengine DNS',
  docs: 'https://www.volcengine.com/docs/6758/155086',
  api: 'https://open.volcengineapi.com',
  credentials: [[text('access_key_id', 'Access Key ID', { help }), secret('secret_access_key', 'Secret Access Key')]],
  // the least TTL and the lines follow from the plan: `zoneInfo` tells
  capabilities: {
    types: RECORD_TYPES,
    ...{ toggle: 'record', weight: true, remark: true, lines: ['default', 'telecom', 'unicom', 'mobile'] },
  },
  // so many a second of each action (documented 2025)
  limits: { requests: 10 },
  load: () => import('./volcengine.provider.js'),
});
