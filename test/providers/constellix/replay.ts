import { constellix } from '../../../src/providers/constellix/declaration.js';
import {
  type Asked,
  type Course,
  isWished,
  type ReplaySetup,
  shownValue,
  targetOf,
  unquoted,
} from '../../support/recordings.js';
import type { Answer } from '../../support/vendor.js';

interface Recorded {
  id: number;
  name: string;
  type: string;
  ttl: number;
  roundRobin: { value: string; disableFlag: boolean }[];
}

/** Zone, type and id in a path; type and id undefined in that of the list. */
const placeOf = (path: string) => {
  const [, zone, type, id] = /\/domains\/(\d+)\/records(?:\/(\w+))?(?:\/(\d+))?\/?$/.exec(path) ?? [];
  return zone === undefined ? null : { zone, type, id };
};
const bodyOf = ({ body }: { body?: unknown }) => (body ?? {}) as Partial<Recorded>;

/** Recorded 2018. */
export const setup: ReplaySetup = {
  definition: constellix,
  recording: 'constellix',
  base: '/v1',
  credentials: (endpoint) => ({ api_key: 'a-key', secret_key: 'a-secret-of-the-tests', endpoint }),
  listed({ method, path }, body, zone) {
    if (method !== 'GET' || !placeOf(path)) return null;
    return (body as Recorded[]).flatMap(({ name, type, ttl, roundRobin }) =>
      roundRobin.map(({ value, disableFlag }) => ({
        ...{ host: name || '@', type, ttl, enabled: !disableFlag },
        value: shownValue(type, value || '@', zone),
      })),
    );
  },
};

/** Paths without a slash at their end, texts without quotes, targets with their final dot. */
export function plain(asked: Asked, _whose: unknown, course: Course): Asked {
  const path = asked.path.replace(/\/$/, '');
  const { roundRobin, ...rest } = bodyOf(asked);
  if (!roundRobin) return { ...asked, path };
  const type = placeOf(path)?.type ?? '';
  const value = (text: string) => (type === 'TXT' ? unquoted(text) : targetOf(type, text, course));
  return { ...asked, path, body: { ...rest, roundRobin: roundRobin.map((r) => ({ ...r, value: value(r.value) })) } };
}

/** The whole list, of the sets that answers showed, and that were written, until then. */
export function sets({ method, path }: Asked, { known }: Course): Answer | undefined {
  if (method !== 'GET' || !placeOf(path)) return undefined;
  const all = new Map<string, Recorded>();
  for (const { request, response } of known) {
    const { type, id } = placeOf(new URL(request.url).pathname) ?? {};
    if (response.status >= 300) continue;
    if (request.method === 'GET') for (const [key, set] of all) if (!type || set.type === type) all.delete(key);
    if (id && request.method === 'DELETE') all.delete(id);
    else if (id) all.set(id, { ...(all.get(id) as Recorded), ...(request.body as Recorded) });
    else if (placeOf(new URL(request.url).pathname))
      for (const set of response.body as Recorded[]) all.set(`${set.id}`, set);
  }
  return { body: [...all.values()] };
}

/** A creation that was refused, since there is a set of this name. */
export const isRefused = (asked: Asked, { scenario }: Course): boolean =>
  asked.method === 'POST' &&
  scenario.interactions.some(
    ({ request, response }) => response.status === 400 && bodyOf(request).name === bodyOf(asked).name,
  );

const moves = ({ scenario }: Course) => (scenario.steps ?? []).filter(({ op, from }) => op === 'update' && from);

/** An update by which a set gets another name. */
export const isRenaming = (asked: Asked, course: Course): boolean =>
  asked.method === 'PUT' && moves(course).some(({ host }) => host === bodyOf(asked).name);

/** A record that changes its name goes to the set of the new one, and that of the old one is deleted. */
export function moved(asked: Asked, course: Course): Answer | undefined {
  const { type, id } = placeOf(asked.path) ?? {};
  if (!moves(course).length || !type) return undefined;
  if (asked.method === 'DELETE') {
    const known = course.known.flatMap(({ response }) => [response.body].flat() as Recorded[]);
    const old = known.find((set) => `${set.id}` === id)?.name;
    return moves(course).some(({ from }) => from === old)
      ? { body: { success: 'Record  deleted successfully' } }
      : undefined;
  }
  const { name: host, ttl, roundRobin = [] } = bodyOf(asked);
  const asWished = roundRobin.every(({ value }) => isWished(course, { type, host, value, ttl }));
  return asked.method === 'POST' && asWished ? { body: [{ ...(asked.body as object), id: 1, type }] } : undefined;
}
