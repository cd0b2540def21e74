import { luadns } from '../../../src/providers/luadns/declaration.js';
import type { ReplaySetup } from '../../support/recordings.js';

interface Recorded {
  id: number;
  type: string;
  name: string;
  content: string;
  ttl: number;
}

/** Recorded 2018. */
export const setup: ReplaySetup = {
  definition: luadns,
  recording: 'luadns',
  base: '/v1',
  credentials: (endpoint) => ({ email: 'joe@example.com', api_key: 'a-key-for-the-tests', endpoint }),
  listed({ path }, body, zone) {
    if (!path.endsWith('/records') || !Array.isArray(body)) return null;
    return (body as Recorded[])
      .filter((r) => r.type !== 'SOA')
      .map((r) => {
        const name = r.name.replace(/\.$/, '');
        return {
          remoteId: String(r.id),
          type: r.type,
          host: name === zone ? '@' : name.slice(0, -zone.length - 1),
          value: r.type === 'TXT' ? r.content : r.content.replace(/\.$/, ''),
          ttl: r.ttl,
        };
      });
  },
  written(_asked, body) {
    const id = (body as Recorded | undefined)?.id;
    return id === undefined ? undefined : String(id);
  },
};
