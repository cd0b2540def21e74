import { gandi } from '../../../src/providers/gandi/declaration.js';
import {
  type Asked,
  type Course,
  isWished,
  type ReplaySetup,
  STEP_TTL,
  shownValue,
  targetOf,
} from '../../support/recordings.js';
import type { Answer } from '../../support/vendor.js';

interface Recorded {
  rrset_name: string;
  rrset_type: string;
  rrset_ttl: number;
  rrset_values: string[];
}

const unquoted = (value: string): string => value.replace(/^"(.*)"$/, '$1');
/** Host and type in the path of a set; null in other paths. */
function placeOf(path: string): { host: string; type: string } | null {
  const [, host, type] = /\/domains\/[^/]+\/records\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
  return host && type ? { host, type } : null;
}

/** Recorded 2020. */
export const setup: ReplaySetup = {
  definition: gandi,
  recording: 'gandi',
  base: '/v5/livedns',
  finds: true,
  credentials: (endpoint) => ({ token: 'a-token-for-the-tests', endpoint }),
  listed({ path }, body, zone) {
    if (!path.endsWith('/records')) return null;
    return (body as Recorded[])
      .filter((set) => set.rrset_type !== 'SOA')
      .flatMap(({ rrset_name: host, rrset_type: type, rrset_ttl: ttl, rrset_values }) =>
        rrset_values.map((rdata) => ({ host, type, ttl, value: shownValue(type, rdata, zone) })),
      );
  },
};

/** A set is written by PUT alone, its values in one form; an update has the TTL that its step says. */
export function writes(asked: Asked, whose: 'recorded' | 'own', course: Course): Asked {
  const place = placeOf(asked.path);
  if (asked.method === 'GET') return { ...asked, query: {} };
  if (!place || !asked.body) return asked;
  const { rrset_values, rrset_type: _type, rrset_name: name, ...rest } = asked.body as Recorded;
  const values = rrset_values.map((value) =>
    place.type === 'TXT' ? unquoted(value) : whose === 'own' ? value : targetOf(place.type, value, course),
  );
  const step = course.scenario.steps?.find((one) => one.op === 'update' && values.includes(`${one.value}`));
  const ttl = whose === 'recorded' && step ? { rrset_ttl: step.ttl ?? STEP_TTL } : {};
  const renamed = name === undefined || name === place.host ? {} : { rrset_name: name };
  return { ...asked, method: 'PUT', body: { ...ttl, ...rest, ...renamed, rrset_values: values } };
}

/** The list of zones, of the recorded answers for single zones. */
export function zones({ path }: Asked, { scenario }: Course): Answer | undefined {
  const found = scenario.interactions.flatMap(
    ({ response }) => (response.body as { fqdn?: string } | null)?.fqdn ?? [],
  );
  return path === '/domains' ? { body: [...new Set(found)].map((fqdn) => ({ fqdn })) } : undefined;
}

/** Reads are answered of the sets that answers showed, and that were written, until then. */
export function sets({ method, path }: Asked, { known }: Course): Answer | undefined {
  const place = placeOf(path);
  if (method !== 'GET' || !(place || path.endsWith('/records'))) return undefined;
  const all = new Map<string, Recorded>();
  for (const { request, response } of known) {
    const at = placeOf(decodeURIComponent(new URL(request.url).pathname));
    const body = response.body as Recorded | Recorded[] | null;
    for (const set of Array.isArray(body) ? body : []) all.set(`${set.rrset_name}/${set.rrset_type}`, set);
    if (!at) continue;
    const key = `${at.host}/${at.type}`;
    if (request.method === 'GET' ? response.status === 404 : request.method === 'DELETE') all.delete(key);
    else if (request.method === 'GET') all.set(key, body as Recorded);
    else {
      const { rrset_values: values, rrset_ttl = all.get(key)?.rrset_ttl ?? STEP_TTL } = request.body as Recorded;
      const rrset_values = values.map((value) => (at.type === 'TXT' ? `"${unquoted(value)}"` : value));
      all.set(key, { rrset_name: at.host, rrset_type: at.type, rrset_ttl, rrset_values });
    }
  }
  if (!place) return { body: [...all.values()] };
  const found = all.get(`${place.host}/${place.type}`);
  return found
    ? { body: found }
    : { status: 404, body: { object: 'dns-record', message: "Can't find the DNS record" } };
}

/** A write of one set that shall have another name. */
export const isRenaming = (asked: Asked): boolean => 'rrset_name' in ((asked.body ?? {}) as object);

/** A record that changes its name goes to the set of the new one, and from that of the old one. */
export function moved({ method, path, body }: Asked, course: Course): Answer | undefined {
  const { host, type } = placeOf(path) ?? {};
  const moves = (course.scenario.steps ?? []).filter((step) => step.op === 'update' && step.from && step.type === type);
  if (method === 'DELETE') return moves.some(({ from }) => from === host) ? { status: 204 } : undefined;
  if (method !== 'PUT' || !moves.some((step) => step.host === host)) return undefined;
  const { rrset_values, rrset_ttl: ttl } = body as Recorded;
  const asWished = rrset_values.every((value) => isWished(course, { type, host, value, ttl }));
  return asWished ? { status: 201, body: { message: 'DNS Record Created' } } : undefined;
}
