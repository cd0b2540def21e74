import { scaleway } from '../../../src/providers/scaleway/declaration.js';
import { type Asked, type Course, hostIn, isKnown, type ReplaySetup, unquoted } from '../../support/recordings.js';
import type { Answer, Scenario } from '../../support/vendor.js';

interface Recorded {
  id?: string;
  name: string;
  type: string;
  data: string;
  ttl: number;
  comment?: string;
}
type Body = { changes?: Change[]; return_all_records?: boolean; disallow_new_zone_creation?: boolean };
type Change = Partial<Record<'add' | 'set' | 'delete', { id?: string; records?: Recorded[] }>>;

const NAMES = ['CNAME', 'NS', 'MX', 'SRV', 'PTR', 'ALIAS'];
const RECORDS = /\/dns-zones\/([^/?]+)\/records$/;

/** Recorded 2025. */
export const setup: ReplaySetup = {
  definition: scaleway,
  recording: 'scaleway',
  base: '/domain/v2beta1',
  credentials: (endpoint) => ({ secret_key: 'a-key-for-the-tests', endpoint }),
  listed({ path }, body, zone) {
    const { records } = body as { records?: Recorded[] };
    if (!RECORDS.test(path)) return null;
    return (records ?? []).map(({ id: remoteId, type, name, data, ttl }) => {
      const target = data.endsWith('.') ? data.slice(0, -1) : `${data}.${zone}`;
      const value = NAMES.includes(type) ? target.replace(/^\d+ /, '') : unquoted(data);
      return { remoteId, type, host: name || '@', value, ttl };
    });
  },
  written: (_asked, body) => (body as { records?: Recorded[] }).records?.[0]?.id,
};

/**
 * What the recording client meant, sent and answered. It left out the dot after the zone of some names, and after
 * targets, which made them names below the zone; and the quotes of texts, which Scaleway adds.
 */
export function meant(scenario: Scenario, zone: string): Scenario {
  const undotted = new Set<string>();
  const nameIn = (name: string) => (name ? hostIn(name, zone).replace(/^@$/, '') : name);
  const sent = ({ name, data, ...rest }: Recorded): Recorded => {
    const isName = NAMES.includes(rest.type);
    if (isName && !data.endsWith('.')) undotted.add(`${data}.${zone}.`);
    const text = rest.type === 'TXT' && !data.startsWith('"') ? `"${data}"` : data;
    return { ...rest, name: nameIn(name), data: isName ? text.replace(/\.?$/, '.') : text };
  };
  const answered = ({ name, data, ...rest }: Recorded): Recorded => ({
    ...{ ...rest, name: nameIn(name) },
    data: undotted.has(data) ? data.slice(0, -zone.length - 1) : data,
  });
  const interactions = scenario.interactions.map(({ request, response }) => {
    const changes = (request.body as { changes?: Change[] } | null | undefined)?.changes?.map((change) =>
      Object.fromEntries(
        Object.entries(change).map(([op, { records, ...one }]) => [
          op,
          { ...one, ...(records && { records: records.map(sent) }) },
        ]),
      ),
    );
    const list = response.body as { records?: Recorded[] } | null | undefined;
    return {
      request: changes ? { ...request, body: { changes } } : request,
      response: list?.records ? { ...response, body: { ...list, records: list.records.map(answered) } } : response,
    };
  });
  return { ...scenario, interactions };
}

/** A request for the first page, which need not be said; deletions in any order. */
export function plain({ query, body, ...asked }: Asked): Asked {
  const { changes, ...more } = (body ?? {}) as Body;
  const isDeletion = changes?.every((change) => change.delete);
  const text = (change: Change) => JSON.stringify(change);
  const sorted = isDeletion ? changes?.toSorted((a, b) => text(a).localeCompare(text(b))) : changes;
  return {
    ...{ ...asked, body: changes ? { ...more, changes: sorted } : body },
    query: asked.method === 'GET' ? { page: '1', ...query } : query,
  };
}

/** A write without what only says what shall be answered, that no zone shall be made, and the remark that is there. */
export function withoutOptions(asked: Asked, _whose: unknown, course: Course): Asked {
  const { return_all_records: all, disallow_new_zone_creation: none, ...rest } = (asked.body ?? {}) as Body;
  if (all !== false || none !== true) return asked;
  const changes = rest.changes?.map((change) => {
    const { id, records } = change.set ?? {};
    const plain = records?.map(({ comment = '', ...one }) =>
      isKnown(course, 'comment', comment || null) ? one : { ...one, comment },
    );
    return plain ? { set: { id, records: plain } } : change;
  });
  return { ...asked, body: { changes } };
}

/** The list of zones, of those whose records were given. */
export function zones({ path, query }: Asked, { scenario }: Course): Answer | undefined {
  if (path !== '/dns-zones') return undefined;
  const names = scenario.interactions.flatMap(({ request, response }) => {
    const [, name] = RECORDS.exec(new URL(request.url).pathname) ?? [];
    return name && response.status < 300 && [undefined, name].includes(query.dns_zone) ? [name] : [];
  });
  const dns_zones = [...new Set(names)].map((domain) => ({ domain, subdomain: '' }));
  return { body: { dns_zones, total_count: dns_zones.length } };
}
