import { regfish } from '../../../src/providers/regfish/declaration.js';
import type { ReplaySetup } from '../../support/recordings.js';

interface Recorded {
  id: number;
  type: string;
  name: string;
  data: string;
  ttl: number;
}

/** Recorded 2024. */
export const setup: ReplaySetup = {
  definition: regfish,
  recording: 'regfish',
  base: '',
  credentials: (endpoint) => ({ api_key: 'a-key-for-the-tests', domains: 'regfish-dev.de', endpoint }),
  listed(_asked, body, zone) {
    const { response } = body as { response?: Recorded[] | Recorded };
    if (!Array.isArray(response)) return null;
    return response.map((r) => ({
      remoteId: String(r.id),
      type: r.type,
      host: r.name === `${zone}.` ? '@' : r.name.slice(0, -zone.length - 2),
      value: r.type === 'CNAME' ? r.data.replace(/\.$/, '') : r.data,
      ttl: r.ttl,
    }));
  },
  written(_asked, body) {
    const { response } = (body ?? {}) as { response?: Recorded };
    return response && String(response.id);
  },
};
