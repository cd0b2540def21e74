import { hetzner } from '../../../src/providers/hetzner/declaration.js';
import { type Asked, type Course, isWished, type ReplaySetup, shownValue, targetOf } from '../../support/recordings.js';
import type { Answer, Interaction, Scenario } from '../../support/vendor.js';

interface Recorded {
  name: string;
  type: string;
  ttl: number | null;
  records: { value: string }[];
}
interface Zone {
  id: number;
  name: string;
  ttl: number;
}
interface Body {
  zone?: Zone;
  rrsets?: Recorded[];
}

/** What a path of a set says; undefined for other paths. */
function placeOf(path: string) {
  const [, name, type, verb = ''] = /\/rrsets\/([^/]+)\/([^/]+)(?:\/actions\/(\w+))?$/.exec(path) ?? [];
  return name && type ? { name, type, verb } : undefined;
}
const bodyOf = ({ response }: Interaction): Body => (response.body ?? {}) as Body;
const zonesOf = ({ interactions }: Scenario): Zone[] => interactions.flatMap((one) => bodyOf(one).zone ?? []);
const keyOf = ({ name, type }: { name: string; type: string }) => `${name}/${type}`;

/** Recorded 2026. */
export const setup: ReplaySetup = {
  definition: hetzner,
  recording: 'hetzner',
  base: '/v1',
  finds: true,
  credentials: (endpoint) => ({ api_token: 'a-token-for-the-tests', endpoint }),
  looks: ({ path }) => path.startsWith('/zones/actions/'),
  listed({ path }, body, zone, scenario) {
    const { rrsets } = body as Body;
    if (!path.endsWith('/rrsets') || !rrsets) return null;
    // that of the zone, where a set has none
    const [usual = Number.NaN] = zonesOf(scenario).map(({ ttl }) => ttl);
    return rrsets
      .filter((set) => set.type !== 'SOA')
      .flatMap(({ name: host, type, ttl, records }) =>
        records.map(({ value }) => ({ host, type, ttl: ttl ?? usual, value: shownValue(type, value, zone) })),
      );
  },
};

/** The sets that answers showed, and that were written. */
function held(known: Course['known']): Map<string, Recorded> {
  const all = new Map<string, Recorded>();
  for (const { request, response } of known) {
    const { searchParams, pathname } = new URL(request.url);
    const place = placeOf(decodeURIComponent(pathname));
    const filter = Object.fromEntries(searchParams);
    const { rrsets } = (response.body ?? {}) as Body;
    if (rrsets && filter.name && filter.type) all.delete(`${filter.name}/${filter.type}`);
    for (const set of rrsets ?? []) all.set(keyOf(set), set);
    if (!place || request.method === 'GET' || response.status >= 300) continue;
    const { ttl = null, records = [] } = (request.body ?? {}) as Partial<Recorded>;
    const was = all.get(keyOf(place)) ?? { ...place, ttl, records: [] };
    const others = was.records.filter((one) => records.every(({ value }) => value !== one.value));
    const now = place.verb === 'add_records' ? [...others, ...records] : place.verb === 'remove_records' ? others : [];
    if (now.length) all.set(keyOf(place), { ...was, records: now });
    else all.delete(keyOf(place));
  }
  return all;
}

/** Lists without paging; the TTL with the first record of a set; what takes the last record takes the set. */
export function sets(asked: Asked, whose: 'recorded' | 'own', course: Course): Asked {
  const { page: _page, per_page: _per, ...query } = asked.query;
  const place = placeOf(asked.path);
  if (!place || asked.method === 'GET') return { ...asked, query };
  const there = held(course.known).get(keyOf(place))?.records;
  const { ttl, records } = (asked.body ?? { records: [] }) as Recorded;
  const values = records.map(({ value }) => value);
  if (place.verb === 'remove_records' && there?.every(({ value }) => values.includes(value)))
    return { ...asked, method: 'DELETE', path: asked.path.replace(/\/actions\/.*$/, ''), body: undefined };
  if (place.verb !== 'add_records' || whose === 'own') return asked;
  const written = records.map((one) => ({ ...one, value: targetOf(place.type, one.value, course) }));
  return { ...asked, body: { ...(there ? {} : { ttl }), records: written } };
}

/** Zones, and what was not recorded of the sets: of the recorded answers. */
export function reads({ method, path, query }: Asked, { scenario, known }: Course): Answer | undefined {
  if (method !== 'GET') return undefined;
  const zones = zonesOf(scenario);
  const list = (key: string, entries: object[]): Answer => ({
    body: { [key]: entries, meta: { pagination: { next_page: null, total_entries: entries.length } } },
  });
  if (path === '/zones') return list('zones', [...new Map(zones.map((zone) => [zone.id, zone])).values()]);
  if (path.endsWith('/rrsets')) {
    const found = [...held(known).values()].filter(
      ({ name, type }) => name === (query.name ?? name) && type === (query.type ?? type),
    );
    // the id of a set is its name and type (recorded)
    return list(
      'rrsets',
      found.map((set) => ({ id: `${set.name}/${set.type}`, ...set })),
    );
  }
  const zone = zones.find(({ id }) => path === `/zones/${id}`);
  return zone && { body: { zone } };
}

/** Of a list that is longer than the recorded page, that page alone. */
export function onePage(answer: Answer, { path }: Asked): Answer {
  const { rrsets } = (answer.body ?? {}) as Body;
  if (!path.endsWith('/rrsets') || !rrsets) return answer;
  const pagination = { next_page: null, total_entries: rrsets.length };
  return { ...answer, body: { rrsets, meta: { pagination } } };
}

/** A record that changes its name goes to the set of the new one, and from that of the old one. */
export function moved({ method, path, body }: Asked, course: Course): Answer | undefined {
  const { name, type, verb } = placeOf(path) ?? {};
  const moves = (course.scenario.steps ?? []).filter((step) => step.op === 'update' && step.from && step.type === type);
  const done = { status: 201, body: { action: { id: 1, status: 'success', error: null } } };
  if (method === 'DELETE') return moves.some(({ from }) => from === name) ? done : undefined;
  if (method !== 'POST' || verb !== 'add_records' || !moves.some(({ host }) => host === name)) return undefined;
  const { ttl, records } = body as Recorded;
  const asWished = records.every(({ value }) =>
    isWished(course, { type, host: name, value: shownValue(`${type}`, value, course.zone), ttl }),
  );
  return asWished ? done : undefined;
}
