import { randomUUID } from 'node:crypto';
import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

export interface Stored {
  id: string;
  name: string;
  rootName: string;
  type: string;
  content: string;
  changeDate: string;
  ttl: number;
  prio?: number;
  disabled: boolean;
}

const ZONE = 'contract.example';
const ID = '4c9feb47-2a4d-11ec-bda4-0a5864441f49';

/** What the API does (traffic of 2024, documentation): a zone with all records, TXT quoted, a list of errors. */
export async function startIonos(): Promise<StandIn & { records: Stored[] }> {
  const records: Stored[] = [];
  const no = (status: number, code: string, message?: string): Answer => ({ status, body: [{ code, message }] });
  const quoted = ({ type, content }: Stored) =>
    type === 'TXT' && !content.startsWith('"') ? `"${content.replace(/["\\]/g, '\\$&')}"` : content;
  const same = (a: Stored, b: Stored) =>
    a.name === b.name && a.type === b.type && a.content === b.content && (a.prio ?? 0) === (b.prio ?? 0);

  function wrong(record: Stored): string | null {
    const { type, content, ttl, name, id } = record;
    if (ttl < 60) return 'ttl';
    if (!(name === ZONE || name.endsWith(`.${ZONE}`))) return 'name';
    if (['CNAME', 'MX', 'NS', 'SRV'].includes(type) && content.endsWith('.')) return 'content';
    if (type === 'TXT' && content.split('" "').some((part) => part.length > 1100)) return 'content';
    const beside = records.filter((other) => other.name === name && other.id !== id);
    if (beside.some((other) => other.type === 'CNAME' || type === 'CNAME')) return 'type';
    return null;
  }
  const put = (record: Stored): Answer | Stored => {
    const made = { ...record, content: quoted(record), rootName: ZONE, changeDate: '2024-11-28T13:45:43.504Z' };
    if (made.type !== 'MX' && made.type !== 'SRV') delete made.prio;
    const why = wrong(made);
    if (why)
      return {
        status: 400,
        body: [{ code: 'INVALID_RECORD', message: `Invalid ${why}`, parameters: { invalid: [why] } }],
      };
    // an identical one takes the place of the old one
    const twin = records.findIndex((other) => other.id === made.id || same(other, made));
    if (twin >= 0) records[twin] = made;
    else records.push(made);
    return made;
  };

  const standIn = await startStandIn(({ method, path, query, headers, body }) => {
    if (headers['x-api-key'] !== 'a-prefix.a-secret')
      return no(401, 'UNAUTHORIZED', 'The customer is not authorized to do this operation.');
    const zone = { name: ZONE, id: ID, type: 'NATIVE' };
    if (path === '/zones') return { body: [{ ...zone, name: 'other.example', id: 'x' }, zone] };
    const [, , zoneId, what, id] = path.split('/');
    if (zoneId !== ID) return no(404, 'ZONE_NOT_FOUND', 'Zone does not exist.');
    if (!what) {
      const hit = (r: Stored) => (query.recordName ?? r.name) === r.name && (query.recordType ?? r.type) === r.type;
      return { body: { ...zone, records: records.filter(hit) } };
    }
    if (!id) {
      const [made] = (body as Stored[]).map((record) => put({ ...record, id: randomUUID() }));
      return made && 'content' in made ? { status: 201, body: [made] } : (made as Answer);
    }
    const found = records.find((record) => record.id === id);
    if (!found) return no(404, 'RECORD_NOT_FOUND', 'Record does not exist.');
    if (method === 'GET') return { body: found };
    if (method === 'DELETE') {
      records.splice(records.indexOf(found), 1);
      return { status: 200 };
    }
    const { content, ttl, prio, disabled, ...more } = body as Stored;
    if (Object.keys(more).length) return no(400, 'INVALID_DATA', 'Unknown fields');
    const made = put({ ...found, content, ttl, prio, disabled } as Stored);
    return 'content' in made ? { body: made } : made;
  });
  return Object.assign(standIn, { records });
}
