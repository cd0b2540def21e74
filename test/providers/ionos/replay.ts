import { ionos } from '../../../src/providers/ionos/declaration.js';
import { type Asked, type Course, hostIn, type ReplaySetup, unquoted } from '../../support/recordings.js';
import type { Answer, Interaction } from '../../support/vendor.js';

interface Recorded {
  id: string;
  name: string;
  type: string;
  content: string;
  ttl: number;
}

/** Recorded 2024. */
export const setup: ReplaySetup = {
  definition: ionos,
  recording: 'ionos',
  base: '/dns/v1',
  credentials: (endpoint) => ({ api_key: 'a-prefix.a-key-for-the-tests', endpoint }),
  listed({ path }, body, zone) {
    const { records } = (body ?? {}) as { records?: Recorded[] };
    if (!/^\/zones\/[^/]+$/.test(path) || !records) return null;
    return records
      .filter(({ type }) => type !== 'SOA')
      .map(({ id: remoteId, type, name, content, ttl }) => ({
        ...{ remoteId, type, host: hostIn(name, zone), value: type === 'TXT' ? unquoted(content) : content, ttl },
      }));
  },
  written: (_asked, body) => ([body].flat()[0] as Recorded | undefined)?.id,
};

const idIn = (path: string): string | undefined => path.split('/records/')[1];

/** Records that were in answers so far and not taken away since. */
function there(known: readonly Interaction[]): Recorded[] {
  const now = new Map<string, Recorded>();
  for (const { request, response } of known) {
    const { records } = (response.body ?? {}) as { records?: Recorded[] };
    const made = request.method === 'POST' && Array.isArray(response.body) ? (response.body as Recorded[]) : [];
    for (const one of [...(records ?? []), ...made]) now.set(one.id, one);
    if (request.method === 'DELETE') now.delete(idIn(request.url) ?? '');
  }
  return [...now.values()];
}

/** A look at one name and type: what the recorded answers so far say of it. */
export function look({ method, query }: Asked, { known }: Course): Answer | undefined {
  if (method !== 'GET' || !query.recordName) return undefined;
  return { body: { records: there(known).filter((r) => r.name === query.recordName && r.type === query.recordType) } };
}

/** A change of a record as the recorded client made it: the record is taken away and made again. */
export function remade({ method, path, query, body }: Asked, { known }: Course): Asked[] | undefined {
  const old = method === 'PUT' ? there(known).find(({ id }) => id === idIn(path)) : undefined;
  if (!old) return undefined;
  const made = [{ name: old.name, type: old.type, ...(body as object) }];
  return [
    { method: 'DELETE', path, query, body: undefined },
    { method: 'POST', path: path.replace(/\/[^/]+$/, ''), query, body: made },
  ];
}

/** The answer to such a change is the record: that to what makes records is a list. */
export function single(answer: Answer, { method }: Asked, { asked }: Course): Answer {
  const list = answer.body;
  return method === 'POST' && asked.at(-2)?.method === 'DELETE' && Array.isArray(list)
    ? { ...answer, body: list[0] }
    : answer;
}

/** What makes a record that is there, and what takes away one that is as it was to become. */
export function unneeded({ method, path, body }: Asked, { known, scenario, zone }: Course): boolean {
  const all = there(known);
  const [made] = [body].flat() as (Recorded | undefined)[];
  const same = (a: Recorded, b: Recorded) =>
    a.name === b.name && a.type === b.type && unquoted(a.content) === unquoted(b.content);
  if (method === 'POST') return made !== undefined && all.some((one) => same(one, made));
  const old = all.find(({ id }) => id === idIn(path));
  return (scenario.steps ?? []).some(
    ({ op, type, host, value }) =>
      old && op === 'update' && old.type === type && hostIn(old.name, zone) === host && unquoted(old.content) === value,
  );
}
