import { digitalocean } from '../../../src/providers/digitalocean/declaration.js';
import type { ReplaySetup } from '../../support/recordings.js';

interface Recorded {
  id: number;
  type: string;
  name: string;
  data: string;
  ttl: number;
}

/** Its traffic of 2020 is not in the folder that we have; this is for one that has it. */
export const setup: ReplaySetup = {
  definition: digitalocean,
  recording: 'digitalocean',
  base: '/v2',
  credentials: (endpoint) => ({ token: 'a-token-for-the-tests', endpoint }),
  listed(_asked, body, zone) {
    const { domain_records: all } = body as { domain_records?: Recorded[] };
    return (
      all
        ?.filter((r) => r.type !== 'SOA')
        .map((r) => ({
          remoteId: String(r.id),
          type: r.type,
          host: r.name,
          value: ['CNAME', 'NS', 'MX'].includes(r.type) ? (r.data === '@' ? zone : r.data.replace(/\.$/, '')) : r.data,
          ttl: r.ttl,
        })) ?? null
    );
  },
  written(_asked, body) {
    const id = (body as { domain_record?: Recorded } | undefined)?.domain_record?.id;
    return id === undefined ? undefined : String(id);
  },
};
