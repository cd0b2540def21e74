import { RECORD_TYPES } from '../../dns/record.js';
import { defineProvider, secret, text } from '../provider.js';

const help = 'Of an IAM sub-user with JDCloudDNSAdmin, or that may do all of domainservice. Console, "Access Key".';

export const jdcloud = defineProvider({
  kind: 'jdcloud',
  label: 'JD Cloud DNS',
  docs: 'https://docs.jdcloud.com/en/jd-cloud-dns/api/overview',
  api: 'https://domainservice.jdcloud-api.com/v2/regions/cn-north-1',
  credentials: [[text('access_key_id', 'Access Key ID', { help }), secret('access_key_secret', 'Access Key Secret')]],
  // lines have numbers: `zoneInfo` tells those of the plan
  capabilities: { types: RECORD_TYPES, toggle: 'record', weight: true },
  // not documented
  limits: { requests: 10, concurrency: 4 },
  load: () => import('./jdcloud.provider.js'),
});
