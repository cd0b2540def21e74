import { infomaniak } from '../../../src/providers/infomaniak/declaration.js';
import { type Asked, type Course, isWished, type ReplaySetup } from '../../support/recordings.js';
import type { Answer } from '../../support/vendor.js';

interface Recorded {
  id: string | number;
  source: string;
  type: string;
  target: string;
  ttl: number;
}
type Products = { customer_name: string }[];

const RECORDS = /\/(?:2\/zones|1\/domain)\/[^/]+(?:\/dns\/record|\/records)(?:\/(\d+))?$/;
const idOf = (path: string): string | undefined => RECORDS.exec(path)?.[1];
const dataOf = (body: unknown): unknown => (body as { data?: unknown } | null)?.data;
const unquoted = (target: string): string => target.replace(/^"(.*)"$/, '$1').replace(/\\(["\\])/g, '$1');

/** Recorded 2021, in version 1 of the API. */
export const setup: ReplaySetup = {
  definition: infomaniak,
  recording: 'infomaniak',
  base: '',
  credentials: (endpoint) => ({ api_token: 'a-token-for-the-tests', endpoint }),
  listed({ path }, body) {
    const data = dataOf(body);
    if (!RECORDS.test(path) || !Array.isArray(data)) return null;
    return (data as Recorded[]).map(({ id, source, type, target, ttl }) => ({
      ...{ remoteId: `${id}`, type, host: source === '.' || source === '' ? '@' : source, ttl },
      value: type === 'TXT' ? unquoted(target) : target.replace(/^\d+ (?=\S+$)/, ''),
    }));
  },
  written: ({ path }, body) => idOf(path) ?? (dataOf(body) as Recorded | undefined)?.id?.toString(),
};

/** The record of an id, in what was answered until then. */
const shown = (known: Course['known'], id: string | undefined): Recorded | undefined =>
  known
    .flatMap(({ response }) => (dataOf(response.body) ?? []) as Recorded | Recorded[])
    .findLast((one) => one.source !== undefined && `${one.id}` === id);

/** Paths of version 2, which knows zones by their names; texts without quotes; an update without what stays. */
export function version2(asked: Asked, _whose: 'recorded' | 'own', { zone, known }: Course): Asked {
  const { page: _1, per_page: _2, customer_name: _3, ...query } = asked.query;
  if (!RECORDS.test(asked.path)) return { ...asked, query };
  const id = idOf(asked.path);
  const path = asked.path.replace(/^\/1\/domain\/\d+\/dns\/record/, `/2/zones/${zone}/records`);
  if (!asked.body) return { ...asked, path, query: {} };
  const { source, target, ...rest } = asked.body as Recorded;
  const stays = asked.method === 'PUT' && (source === undefined || source === shown(known, id)?.source);
  return { ...asked, path, query: {}, body: { ...rest, ...(stays ? {} : { source }), target: unquoted(target) } };
}

/** A record as version 2 answers it: its id a number, texts quoted. */
const inVersion2 = ({ id, source, type, target, ttl }: Recorded): Recorded => ({
  ...{ id: Number(id), source, type, ttl },
  target: type === 'TXT' ? `"${unquoted(target).replace(/["\\]/g, '\\$&')}"` : target,
});

/** A single record, where the recorded client did not read it. */
export function read({ method, path }: Asked, { known }: Course): Answer | undefined {
  const one = method === 'GET' ? shown(known, idOf(path)) : undefined;
  return one && { body: { result: 'success', data: inVersion2(one) } };
}

/** Answers as version 2 gives them; the name that was masked is the one that was asked for. */
export function answers(answer: Answer, { method, path, body }: Asked, { scenario, known }: Course): Answer {
  const data = dataOf(answer.body);
  const found = (now: unknown, more: object = {}): Answer => ({
    ...answer,
    body: { ...(answer.body as object), data: now, ...more },
  });
  if (path === '/1/product') {
    const [name] = scenario.interactions.flatMap(
      ({ request }) => new URL(request.url).searchParams.get('customer_name') ?? [],
    );
    return found((data as Products).map((one) => ({ ...one, customer_name: name })));
  }
  if (method === 'GET' && Array.isArray(data)) return found(data.map(inVersion2), { total: data.length });
  if (method === 'GET' && idOf(path) && data) return found(inVersion2(data as Recorded));
  if (method === 'POST') return found(inVersion2({ ...(body as Recorded), id: data as string }));
  const was = shown(known, idOf(path));
  return method === 'PUT' && was ? found(inVersion2({ ...was, ...(body as object) })) : answer;
}

/** An update that gives a record another name. */
export const isRenaming = ({ method, body }: Asked): boolean =>
  method === 'PUT' && 'source' in ((body ?? {}) as object);

/** A record of the new name is made, and the old one deleted. */
export function moved({ method, path, body }: Asked, course: Course): Answer | undefined {
  const moves = (course.scenario.steps ?? []).filter((step) => step.op === 'update' && step.from);
  const old = shown(course.known, idOf(path));
  if (method === 'DELETE')
    return moves.some(({ from, type }) => from === old?.source && type === old?.type)
      ? { body: { result: 'success', data: true } }
      : undefined;
  if (method !== 'POST') return undefined;
  const record = body as Recorded;
  const wished = isWished(course, { ...record, host: record.source, value: record.target });
  const target = moves.some(({ host }) => host === record.source);
  return wished && target
    ? { status: 201, body: { result: 'success', data: inVersion2({ ...record, id: 1 }) } }
    : undefined;
}
