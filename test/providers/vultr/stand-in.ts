import { randomUUID } from 'node:crypto';
import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

export interface StoredRecord {
  id: string;
  type: string;
  name: string;
  data: string;
  priority: number;
  ttl: number;
}

const ZONE = 'contract.example';
const TYPES = 'A AAAA CAA CNAME MX NS SRV SSHFP TXT'.split(' ');

/**
 * What the API does (traffic of 2021): cursors, names relative, texts quoted, updates of what is sent, without a body.
 */
export async function startVultr(): Promise<
  StandIn & { records: StoredRecord[]; domains: { domain: string }[]; most: { page: number } }
> {
  const records: StoredRecord[] = [];
  const domains = [{ domain: ZONE }];
  const most = { page: 500 };
  const no = (status: number, error: string): Answer => ({ status, body: { error, status } });

  const wrong = (made: StoredRecord): string | null => {
    const { id, type, name, data, ttl, priority } = made;
    if (!TYPES.includes(type)) return 'Invalid type';
    if (typeof data !== 'string' || data === '') return 'Data is required';
    if (ttl < 120) return 'TTL must be at least 120';
    if (/^(CNAME|NS|MX)$/.test(type) && /.\.$/.test(data)) return 'Invalid data: no dot at the end';
    if (type === 'TXT' && !/^"[^"]*"( "[^"]*")*$/.test(data)) return 'TXT must be quoted';
    if (type === 'CAA' && !/^\d+ (iodef|issuewild|issue) "\S*"$/.test(data))
      return 'Unable to update record: Data must be in the format: [flag] [iodef|issuewild|issue] "domain"';
    const beside = records.filter((r) => r.id !== id && r.name === name);
    if (beside.some((r) => r.type === type && r.data === data && r.priority === priority)) return 'Duplicate records';
    const clash = beside.length && (type === 'CNAME' || beside.some((r) => r.type === 'CNAME'));
    return clash ? 'CNAME records cannot be beside others' : null;
  };

  const standIn = await startStandIn(({ method, path, query, headers, body }) => {
    if (headers.authorization !== 'Bearer a-key') return no(401, 'Invalid API token.');
    const page = (key: string, all: object[]): Answer => {
      const size = Math.min(Number(query.per_page ?? 100), most.page);
      const cursor = (at: number) => Buffer.from(`next__${at}`).toString('base64');
      const at = query.cursor ? Number(Buffer.from(query.cursor, 'base64').toString().slice('next__'.length)) : 0;
      const links = { next: at + size < all.length ? cursor(at + size) : '', prev: at ? cursor(at - size) : '' };
      return { body: { [key]: all.slice(at, at + size), meta: { total: all.length, links } } };
    };
    if (path === '/domains') return page('domains', domains);
    const [, , domain, what, id] = path.split('/').map(decodeURIComponent);
    if (domain !== ZONE || what !== 'records') return no(404, 'Invalid domain.');
    const now = records.find((r) => r.id === id);
    if (id && !now) return no(404, 'Invalid record.');
    if (method === 'GET') return now ? { body: { record: now } } : page('records', records);
    if (method === 'DELETE') {
      records.splice(records.indexOf(now as StoredRecord), 1);
      return { status: 204 };
    }
    const { type, ...rest } = body as StoredRecord;
    const made = { ...(now ?? { id: randomUUID(), type, priority: 0, ttl: 300 }), ...rest } as StoredRecord;
    const why = wrong(made);
    if (why) return no(400, why);
    if (now) records[records.indexOf(now)] = made;
    else records.push(made);
    return method === 'POST' ? { status: 201, body: { record: made } } : { status: 204 };
  });
  return Object.assign(standIn, { records, domains, most });
}
