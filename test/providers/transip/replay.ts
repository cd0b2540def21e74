import { isDeepStrictEqual } from 'node:util';
import { transip } from '../../../src/providers/transip/declaration.js';
import type { Asked, Course, ReplaySetup } from '../../support/recordings.js';
import type { Answer, Interaction, Scenario } from '../../support/vendor.js';
import { pem } from './stand-in.js';

interface Entry {
  name: string;
  expire: number;
  type: string;
  content: string;
}
type Body = { dnsEntries?: Entry[]; dnsEntry?: Entry; domain?: { name?: string } } | null | undefined;

/** Recorded 2022. */
export const setup: ReplaySetup = {
  definition: transip,
  recording: 'transip',
  base: '/v6',
  finds: true,
  credentials: (endpoint) => ({ login: 'ada', private_key: pem, global_key: 'true', endpoint }),
  reads: ({ method, path }) => method === 'GET' || path === '/auth',
  listed({ method, path }, body, zone) {
    const { dnsEntries } = (body ?? {}) as { dnsEntries?: Entry[] };
    if (method !== 'GET' || !path.endsWith('/dns')) return null;
    return (dnsEntries ?? []).map(({ name: host, type, content, expire: ttl }) => {
      const target = content.replace(/^(\d+ )+/, '');
      const absolute = target === '@' ? zone : target.endsWith('.') ? target.slice(0, -1) : `${target}.${zone}`;
      const value = /^(CNAME|MX|NS|ALIAS)$/.test(type) ? absolute : content;
      return { host, type, value: type === 'SRV' ? content.replace(/^\d+ |\.$/g, '') : value, ttl };
    });
  },
};

const bodyOf = (body: unknown) => (body ?? {}) as NonNullable<Body>;
/** An entry for comparing; what comes with a backslash is escaped. */
const textOf = ({ name, expire, type, content }: Entry) =>
  JSON.stringify([name, expire, type, type === 'TXT' ? content.replace(/\\(.)/g, '$1') : content]);

/** The zone as it was after what was recorded so far: the first list since the last write, or what that has made. */
function stateOf(known: readonly Interaction[]): Entry[] | undefined {
  let now: Entry[] | undefined;
  let read = false;
  for (const { request, response } of known) {
    const [entry, list] = [bodyOf(request.body).dnsEntry, bodyOf(response.body).dnsEntries];
    if (list && !read) now = list;
    if (entry && request.method === 'POST') now = [...(now ?? []), entry];
    else if (entry) now = now?.filter((one) => textOf(one) !== textOf(entry));
    read = entry ? false : read || !!list;
  }
  return now;
}

/**
 * What one write of the whole zone changes, as the recorded client wrote it: entry by entry. Entries that only get the
 * TTL of one that comes to their set are left out: that client left them with another, which DNS has not.
 */
export function byEntry({ method, path, query, body }: Asked, { known }: Course): Asked[] | undefined {
  const { dnsEntries: next } = bodyOf(body);
  if (method !== 'PUT' || !next || known.some(({ request }) => request.method === 'PUT')) return undefined;
  const lacks = (list: Entry[], entry: Entry) => !list.some((one) => textOf(one) === textOf(entry));
  const isValue = (a: Entry, b: Entry) => textOf({ ...a, expire: 0 }) === textOf({ ...b, expire: 0 });
  const was = stateOf(known) ?? [];
  const comes = next.filter((one) => !was.some((old) => isValue(old, one)));
  const follows = (one: Entry) =>
    [was, next].every((list) => list.some((other) => isValue(other, one))) &&
    comes.some(({ name, type }) => name === one.name && type === one.type);
  const parts = [
    ...was.filter((one) => lacks(next, one)).map((dnsEntry) => ({ method: 'DELETE', body: { dnsEntry } })),
    ...next.filter((one) => lacks(was, one)).map((dnsEntry) => ({ method: 'POST', body: { dnsEntry } })),
  ].filter(({ body: { dnsEntry } }) => !follows(dnsEntry));
  return parts.length ? parts.map((part) => ({ ...part, path, query })) : undefined;
}

/** What is read where the recorded client did not: the last recorded list, and what was written since. */
export function asWritten({ method, path }: Asked, { known }: Course): Answer | undefined {
  const dnsEntries = method === 'GET' && path.endsWith('/dns') ? stateOf(known) : undefined;
  return dnsEntries && { body: { dnsEntries } };
}

/** The list of domains, of those that were asked for by name. */
export function domains({ path }: Asked, { scenario }: Course): Answer | undefined {
  if (path !== '/domains') return undefined;
  const all = scenario.interactions.flatMap(({ response }) => bodyOf(response.body).domain ?? []);
  return { body: { domains: all } };
}

/** An entry that is made again just as it was taken away, where it was to move to another name, is made there. */
export function moved(scenario: Scenario): Scenario {
  const move = scenario.steps?.find(({ op, from, host }) => op === 'update' && from !== undefined && from !== host);
  const interactions = scenario.interactions.map(({ request, response }, i, all) => {
    const before = all[i - 1]?.request;
    const again =
      before?.method === 'DELETE' && request.method === 'POST' && isDeepStrictEqual(before.body, request.body);
    const entry = again ? bodyOf(request.body).dnsEntry : undefined;
    if (!entry || entry.name !== move?.from) return { request, response };
    return { request: { ...request, body: { dnsEntry: { ...entry, name: move.host } } }, response };
  });
  return { ...scenario, interactions };
}
