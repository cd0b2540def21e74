import { vultr } from '../../../src/providers/vultr/declaration.js';
import { type Asked, type ReplaySetup, unquoted } from '../../support/recordings.js';

interface Recorded {
  id: string;
  type: string;
  name: string;
  data: string;
  ttl: number;
}

/** Recorded 2021. */
export const setup: ReplaySetup = {
  definition: vultr,
  recording: 'vultr',
  base: '/v2',
  credentials: (endpoint) => ({ api_key: 'a-key-for-the-tests', endpoint }),
  listed(_asked, body) {
    const { records } = (body ?? {}) as { records?: Recorded[] };
    return (
      records?.map((r) => ({
        ...{ remoteId: r.id, type: r.type, host: r.name || '@', ttl: r.ttl },
        value: r.type === 'TXT' ? unquoted(r.data) : r.data,
      })) ?? null
    );
  },
  written: ({ path }, body) => (body as { record?: Recorded } | undefined)?.record?.id ?? path.split('/')[4],
};

/** A request without what asks for pages. */
export function unpaged({ query, ...asked }: Asked): Asked {
  const { per_page: _size, cursor: _cursor, ...rest } = query;
  return { ...asked, query: rest };
}
