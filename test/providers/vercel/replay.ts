import { vercel } from '../../../src/providers/vercel/declaration.js';
import type { ReplaySetup } from '../../support/recordings.js';

interface Recorded {
  id: string;
  type: string;
  name: string;
  value: string;
  ttl: number;
}

/** Recorded 2021. */
export const setup: ReplaySetup = {
  definition: vercel,
  recording: 'vercel',
  base: '',
  credentials: (endpoint) => ({ api_token: 'a-token-for-the-tests', endpoint }),
  listed({ path }, body) {
    const { records } = body as { records?: Recorded[] };
    if (!path.endsWith('/records') || !records) return null;
    return records.map((r) => ({
      remoteId: r.id,
      type: r.type,
      host: r.name || '@',
      value: r.type === 'CNAME' ? r.value.replace(/\.$/, '') : r.value,
      ttl: r.ttl,
    }));
  },
  written(_asked, body) {
    const { uid, id } = (body ?? {}) as { uid?: string; id?: string };
    return uid ?? id;
  },
};
