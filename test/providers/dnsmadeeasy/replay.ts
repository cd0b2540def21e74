import { dnsmadeeasy } from '../../../src/providers/dnsmadeeasy/declaration.js';
import { type ReplaySetup, shownValue } from '../../support/recordings.js';

interface Recorded {
  id: number;
  name: string;
  type: string;
  value: string;
  ttl: number;
}

/** Recorded 2018. */
export const setup: ReplaySetup = {
  definition: dnsmadeeasy,
  recording: 'dnsmadeeasy',
  base: '/V2.0',
  finds: true,
  credentials: (endpoint) => ({ api_key: 'a-key-for-the-tests', secret_key: 'a-secret-for-the-tests', endpoint }),
  listed({ path }, body, zone) {
    const { data } = (body ?? {}) as { data?: Recorded[] };
    if (!path.endsWith('/records') || !data) return null;
    return data.map(({ id, name, type, value, ttl }) => ({
      ...{ remoteId: String(id), host: name || '@', type, ttl, value: shownValue(type, value, zone) },
    }));
  },
  written: ({ path }, body) => {
    const { id } = (body ?? {}) as Partial<Recorded>;
    return id === undefined ? path.split('/')[5] : String(id);
  },
};
