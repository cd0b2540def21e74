import { desec } from '../../../src/providers/desec/declaration.js';
import { type Asked, type Course, type ReplaySetup, shownValue, targetOf } from '../../support/recordings.js';
import type { Answer } from '../../support/vendor.js';

interface Recorded {
  name: string;
  subname: string;
  type: string;
  ttl: number;
  records: string[];
}

/** Zone, host and type in a path; host and type undefined in that of the list. */
const placeOf = (path: string) => {
  const [, zone, subname, type] = /\/domains\/([^/]+)\/rrsets(?:\/([^/]+)\/([^/]+))?\/*$/.exec(path) ?? [];
  return zone === undefined ? null : { zone, subname, type };
};
const keyOf = ({ subname, type }: { subname?: string | undefined; type?: string | undefined }) => `${subname} ${type}`;

/** Recorded 2025. */
export const setup: ReplaySetup = {
  definition: desec,
  recording: 'desec',
  base: '/api/v1',
  finds: true,
  credentials: (endpoint) => ({ token: 'a-token-for-the-tests', endpoint }),
  listed({ method, path }, body, zone) {
    if (method !== 'GET' || !placeOf(path)) return null;
    return (body as Recorded[])
      .filter((set) => set.type !== 'SOA')
      .flatMap(({ subname, type, ttl, records }) =>
        records.map((rdata) => ({ host: subname || '@', type, ttl, value: shownValue(type, rdata, zone) })),
      );
  },
};

/** Each set of a write as a write of its own. */
export const eachSet = ({ body, ...asked }: Asked): Asked[] =>
  Array.isArray(body) ? body.map((set) => oneSet(asked, set as Recorded)) : [{ ...asked, body }];

/** Writes of one set in one form: what it holds then, in any order; without records it has no TTL. */
const oneSet = (asked: Omit<Asked, 'body'>, { subname, type, ttl, records }: Recorded): Asked => {
  const body = records.length ? { subname, type, ttl, records: records.toSorted() } : { subname, type, records };
  return { ...asked, method: 'PUT', path: `/domains/${placeOf(asked.path)?.zone}/rrsets`, body };
};

export function writes(asked: Asked, whose: 'recorded' | 'own', course: Course): Asked {
  const { cursor: _cursor, ...query } = asked.query;
  const path = asked.path.replace(/\/+$/, '');
  const place = placeOf(path);
  if (asked.method === 'GET') return { ...asked, path, query };
  if (whose === 'own' || !place) return { ...asked, path };
  const { subname = '', type = '' } = place;
  const set = { subname, type, records: [], ...((asked.body ?? {}) as object) } as unknown as Recorded;
  return oneSet(asked, { ...set, records: set.records.map((rdata) => targetOf(set.type, rdata, course)) });
}

/** The list of zones, of those that the recorded client found by name. */
export function zones({ path }: Asked, { scenario }: Course): Answer | undefined {
  if (path !== '/domains') return undefined;
  const found = scenario.interactions.flatMap(({ request, response }) => {
    const name = /\/domains\/([^/]+)\/$/.exec(new URL(request.url).pathname)?.[1];
    return name && request.method === 'GET' && response.status === 200 ? [{ name, minimum_ttl: 3600 }] : [];
  });
  return { body: found };
}

/** Reads that were not recorded are answered of the sets that answers showed until then. */
export function sets({ method, path, query }: Asked, { known }: Course): Answer | undefined {
  if (method !== 'GET' || !placeOf(path)) return undefined;
  const all = new Map<string, Recorded>();
  for (const { request, response } of known) {
    const url = new URL(request.url);
    const place = placeOf(decodeURIComponent(url.pathname));
    if (!place || response.status >= 300) continue;
    const filter = Object.fromEntries(url.searchParams);
    const fits = (set: Recorded) =>
      (filter.subname ?? set.subname) === set.subname && (filter.type ?? set.type) === set.type;
    if (request.method === 'GET') {
      for (const [key, set] of all) if (fits(set)) all.delete(key);
      for (const set of response.body as Recorded[]) all.set(keyOf(set), set);
    } else if (response.status === 204) all.delete(keyOf(place));
    else all.set(keyOf(response.body as Recorded), response.body as Recorded);
  }
  const wanted = (set: Recorded) =>
    (query.subname ?? set.subname) === set.subname && (query.type ?? set.type) === set.type;
  return { body: [...all.values()].filter(wanted) };
}
