import { RECORD_TYPES } from '../../dns/record.js';
import { defineProvider, secret, text } from '../provider.js';

/** OVHcloud API 1.0: records with ids, read one by one, published by a refresh of the zone. */
export const ovh = defineProvider({
  kind: 'ovh',
  label: 'OVHcloud',
  docs: 'https://help.ovhcloud.com/csm/en-api-getting-started-ovhcloud-api',
  api: 'https://eu.api.ovh.com/1.0',
  credentials: [
    [
      text('application_key', 'Application key', { help: 'From https://eu.api.ovh.com/createToken/ of your region.' }),
      secret('application_secret', 'Application secret'),
      secret('consumer_key', 'Consumer key', { help: 'GET /domain/zone; GET, POST, PUT, DELETE of /domain/zone/*.' }),
      text('region', 'Region', { required: false, default: 'eu', values: ['eu', 'ca', 'us'], address: true }),
    ],
  ],
  capabilities: { types: [...RECORD_TYPES, 'PTR', 'NAPTR', 'SSHFP', 'TLSA'], minTtl: 60 },
  // OVH names no numbers; a list of records is as many calls
  limits: { requests: 40 },
  load: () => import('./ovh.provider.js'),
});
