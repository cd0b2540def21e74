import { dynu } from '../../../src/providers/dynu/declaration.js';
import type { ReplaySetup } from '../../support/recordings.js';

interface Recorded {
  id: number;
  nodeName: string;
  recordType: string;
  ttl: number;
  textData?: string;
  ipv4Address?: string;
  host?: string;
}

/** Recorded 2025. */
export const setup: ReplaySetup = {
  definition: dynu,
  recording: 'dynu',
  base: '/v2',
  credentials: (endpoint) => ({ api_key: 'a-key-for-the-tests', endpoint }),
  listed(_asked, body) {
    const { dnsRecords } = (body ?? {}) as { dnsRecords?: Recorded[] };
    return (
      dnsRecords
        ?.filter(({ recordType }) => recordType !== 'SOA')
        .map((r) => ({
          ...{ remoteId: String(r.id), type: r.recordType, host: r.nodeName || '@', ttl: r.ttl },
          value: r.textData ?? r.ipv4Address ?? r.host ?? '',
        })) ?? null
    );
  },
  written(_asked, body) {
    const { id } = (body ?? {}) as Partial<Recorded>;
    return id === undefined ? undefined : String(id);
  },
};
