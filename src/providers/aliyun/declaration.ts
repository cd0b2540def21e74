import { RECORD_TYPES } from '../../dns/record.js';
import { defineProvider, secret, text } from '../provider.js';

const help = 'Of a RAM user with the policy AliyunDNSFullAccess and no other; not of the account itself.';
const LINES = ['default', 'telecom', 'unicom', 'mobile', 'edu', 'oversea', 'search'];

/** Alibaba Cloud DNS (API 2015-01-09): records with ids, lines, remarks; RPC requests signed with HMAC-SHA1. */
export const aliyun = defineProvider({
  ...{ kind: 'aliyun', aliases: ['alidns'], label: 'Alibaba Cloud DNS' },
  docs: 'https://www.alibabacloud.com/help/en/dns/api-alidns-2015-01-09-overview',
  api: 'https://alidns.aliyuncs.com',
  credentials: [[text('access_key_id', 'AccessKey ID', { help }), secret('access_key_secret', 'AccessKey Secret')]],
  // the usual lines; a zone's own facts tell those of its plan, and its least TTL (600 in the free one)
  capabilities: { types: RECORD_TYPES, toggle: 'record', remark: true, lines: LINES, maxTtl: 86_400 },
  limits: { requests: 20, concurrency: 4 },
  load: () => import('./aliyun.provider.js'),
});
