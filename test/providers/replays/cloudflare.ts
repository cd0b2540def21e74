import { cloudflare } from '../../../src/providers/cloudflare/declaration.js';
import type { ReplaySetup } from '../../support/recordings.js';

interface Recorded {
  id: string;
  type: string;
  name: string;
  content: string;
  ttl: number;
}

/** Recorded 2025. */
export const setup: ReplaySetup = {
  definition: cloudflare,
  recording: 'cloudflare',
  base: '/client/v4',
  credentials: (endpoint) => ({ api_token: 'a-token-for-the-tests', endpoint }),
  listed({ path }, body, zone) {
    const { result } = body as { result: Recorded[] | Recorded };
    if (!path.includes('/dns_records') || !Array.isArray(result)) return null;
    return result.map((r) => ({
      remoteId: r.id,
      type: r.type,
      host: r.name === zone ? '@' : r.name.slice(0, -zone.length - 1),
      value: r.type === 'TXT' ? r.content.replace(/^"(.*)"$/, '$1') : r.content,
      ttl: r.ttl,
    }));
  },
  written: (_asked, body) => (body as { result?: Recorded }).result?.id,
};
