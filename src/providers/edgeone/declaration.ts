import { RECORD_TYPES } from '../../dns/record.js';
import { defineProvider, secret, text } from '../provider.js';

const help = 'Of a sub-user (CAM) with the policy QcloudTEOFullAccess and no other.';

/** Tencent EdgeOne (API 2022-09-01): sites that are delegated to it, records with ids; signature TC3-HMAC-SHA256. */
export const edgeone = defineProvider({
  ...{ kind: 'edgeone', aliases: ['tencenteo'] },
  label: 'Tencent EdgeOne',
  docs: 'https://cloud.tencent.com/document/product/1552/80721',
  api: 'https://teo.tencentcloudapi.com',
  credentials: [[text('secret_id', 'SecretId', { help }), secret('secret_key', 'SecretKey')]],
  // the TTLs: official model
  capabilities: { types: RECORD_TYPES, toggle: 'record', weight: true, minTtl: 60, maxTtl: 86_400 },
  // 20 a second for each action (documentation)
  limits: { requests: 20 },
  load: () => import('./edgeone.provider.js'),
});
