import { cloudns } from '../../../src/providers/cloudns/declaration.js';
import type { Asked, Course, ReplaySetup } from '../../support/recordings.js';
import type { Answer } from '../../support/vendor.js';

interface Recorded {
  id: string;
  type: string;
  host: string;
  record: string;
  ttl: string;
  status: number;
}
type Form = Record<string, string>;

const formOf = ({ body }: Asked): Form => (body ?? {}) as Form;

/** Recorded 2018. */
export const setup: ReplaySetup = {
  definition: cloudns,
  recording: 'cloudns',
  base: '/dns',
  credentials: (endpoint) => ({ auth_id: '1234', auth_password: 'a-password-for-the-tests', endpoint }),
  reads: ({ path }) => !/\/(add|mod|delete|change)-/.test(path),
  listed({ path }, body) {
    if (path !== '/records.json') return null;
    return Object.values(body as Record<string, Recorded>).map(({ id, type, host, record, ttl, status }) => ({
      ...{ remoteId: id, type, host: host || '@', value: record, ttl: Number(ttl) },
      enabled: Number(status) === 1,
    }));
  },
  // a change of a record has its id, and the answer to it none
  written: (asked, body) =>
    formOf(asked)['record-id'] ?? (body as { data?: { id: number } } | undefined)?.data?.id.toString(),
};

/** Parameters in the body, without those that say who asks, the empty ones of the recorded client, and filters. */
export function parameters(asked: Asked): Asked {
  const all = Object.entries({ ...asked.query, ...formOf(asked) });
  const filter = asked.path === '/records.json' ? ['host', 'type'] : [];
  const kept = all.filter(
    ([name, value]) => !/^(sub-)?auth-/.test(name) && !filter.includes(name) && !`${value}`.startsWith('placeholder_'),
  );
  return { ...asked, method: 'POST', query: {}, body: Object.fromEntries(kept) };
}

/** The list of zones, of the recorded answers for single zones. */
export function zones({ path }: Asked, { scenario }: Course): Answer | undefined {
  if (path === '/get-pages-count.json') return { body: 1 };
  if (path !== '/list-zones.json') return undefined;
  const found = scenario.interactions.flatMap(({ request, response }) =>
    request.url.includes('/get-zone-info.json') ? ((response.body as { name?: string }).name ?? []) : [],
  );
  return { body: [...new Set(found)].map((name) => ({ name })) };
}
