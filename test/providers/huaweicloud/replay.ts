import { huaweicloud } from '../../../src/providers/huaweicloud/declaration.js';
import { type Asked, type Course, isWished, type ReplaySetup, shownValue, targetOf } from '../../support/recordings.js';
import type { Answer } from '../../support/vendor.js';

interface Recorded {
  id: string;
  name: string;
  type: string;
  ttl: number;
  records: string[];
  line?: string;
}
interface List {
  recordsets?: Recorded[];
}

const LIST = /^\/v2\/zones\/[^/]+\/recordsets$/;
const keyOf = ({ name, type }: Recorded): string => `${name.replace(/\.?$/, '.')} ${type}`;
const hostIn = (name: string, zone: string): string =>
  name.replace(/\.$/, '') === zone ? '@' : name.replace(/\.$/, '').slice(0, -zone.length - 1);
/** A creation that was refused, since the set is there already. */
const isConflict = ({ status = 200, body }: Answer): boolean =>
  status === 400 && (body as { code?: string } | null)?.code === 'DNS.0312';

/** Recorded 2023, of another cloud of the family. */
export const setup: ReplaySetup = {
  definition: huaweicloud,
  recording: 'flexibleengine',
  base: '',
  finds: true,
  credentials: (endpoint) => ({ access_key_id: 'an-id', secret_access_key: 'a-secret-for-the-tests', endpoint }),
  listed({ method, path }, body, zone) {
    if (method !== 'GET' || !LIST.test(path)) return null;
    return ((body as List).recordsets ?? [])
      .filter((set) => set.type !== 'SOA')
      .flatMap(({ name, type, ttl, records }) =>
        records.map((rdata) => ({ host: hostIn(name, zone), type, ttl, value: shownValue(type, rdata, zone) })),
      );
  },
};

/** Version 2 of the API, lists whole; names and targets with their final dot, the default line left out. */
export function sets(asked: Asked, whose: 'recorded' | 'own', course: Course): Asked {
  const path = asked.path.replace(/^\/v2\.1\//, '/v2/');
  if (asked.method === 'GET') return { ...asked, path, query: {} };
  if (!asked.body) return { ...asked, path };
  const { line = 'default_view', ...set } = asked.body as Recorded;
  const records = whose === 'own' ? set.records : set.records.map((rdata) => targetOf(set.type, rdata, course));
  const name = whose === 'own' ? set.name : set.name.replace(/\.?$/, '.');
  return { ...asked, path, body: { ...set, name, records, ...(line === 'default_view' ? {} : { line }) } };
}

/** The sets that answers showed until then, by name and type. */
export function held(known: Course['known']): Map<string, Recorded> {
  const all = new Map<string, Recorded>();
  for (const { request, response } of known) {
    const body = (response.body ?? {}) as List & Recorded;
    if (response.status >= 300 || !request.url.includes('/recordsets')) continue;
    if (body.recordsets) {
      all.clear();
      for (const set of body.recordsets) all.set(keyOf(set), set);
    } else if (request.method === 'DELETE') all.delete(keyOf(body));
    else all.set(keyOf(body), { ...body, records: (request.body as Recorded).records });
  }
  return all;
}

/** The whole zone, which the recorded client did not read before it wrote. */
export function list({ method, path }: Asked, { known }: Course): Answer | undefined {
  if (method !== 'GET' || !LIST.test(path)) return undefined;
  const recordsets = [...held(known).values()];
  return { body: { recordsets, metadata: { total_count: recordsets.length } } };
}

/** Where the account had the set before the scenario, a creation is answered as in an account that had it not. */
export const asInNewAccount = (answer: Answer, { method, body }: Asked): Answer =>
  method === 'POST' && isConflict(answer)
    ? { status: 202, body: { id: 'made', ...(body as object), status: 'PENDING_CREATE' } }
    : answer;

/** A second creation of a set, refused; and a write of a set under another name. */
export function mistaken({ method, path, body }: Asked, { known, zone, scenario }: Course): boolean {
  const set = body as Recorded;
  if (method === 'POST')
    return known.some(({ request }) => request.method === 'POST' && keyOf(request.body as Recorded) === keyOf(set));
  const was = [...held(known).values()].find(({ id }) => path.endsWith(`/${id}`));
  return (
    method === 'PUT' &&
    was !== undefined &&
    keyOf(was) !== keyOf(set) &&
    (scenario.steps ?? []).some(({ op, host }) => op === 'update' && host === hostIn(set.name, zone))
  );
}

/** What takes the place of that: a value comes to the set that is there, a record goes from one set to another. */
export function mended({ method, path, body }: Asked, course: Course): Answer | undefined {
  const { known, zone, scenario } = course;
  const was = [...held(known).values()].find(({ id }) => path.endsWith(`/${id}`));
  if (method === 'DELETE') {
    const moved = (scenario.steps ?? []).some(
      ({ op, from, type }) => op === 'update' && was && from === hostIn(was.name, zone) && type === was.type,
    );
    return moved ? { status: 202, body: was } : undefined;
  }
  const { name, type, ttl, records } = (body ?? {}) as Recorded;
  if (method === 'GET' || (method === 'PUT' && (!was || was.name !== name))) return undefined;
  const added = records.filter((rdata) => !was?.records.includes(rdata));
  const all = added.every((rdata) =>
    isWished(course, { type, host: hostIn(name, zone), value: shownValue(type, rdata, zone), ttl }),
  );
  const kept = was?.records.every((rdata) => records.includes(rdata)) ?? true;
  return all && kept && added.length
    ? { status: 202, body: { id: was?.id ?? 'made', name, type, ttl, records } }
    : undefined;
}
