import { createHmac, randomUUID } from 'node:crypto';
import { type Answer, type Received, type StandIn, startStandIn } from '../../support/vendor.js';

export interface StoredRecord {
  id: string;
  name: string;
  type: string;
  content: string;
  ttl: number;
  priority?: number | null;
  'created-at': string;
  'system-record'?: boolean;
}
type Stored = { id: string; 'unicode-name': string };

export const ZONE = { id: '89083a5c-b648-474a-0000-00000000d1ab', 'unicode-name': 'contract.example' };
const TYPES = 'A AAAA ALIAS CAA CNAME HINFO MX NAPTR NS POOL PTR SPF SRV SSHFP TXT URL'.split(' ');

/**
 * What API v2 does (its OpenAPI description, Exoscale's own clients, notes of dnscontrol 2022): no pages, signed
 * requests, writes that answer an operation which is looked at until it has ended.
 */
export async function startExoscale(): Promise<
  StandIn & {
    records: StoredRecord[];
    zones: Stored[];
    world: { looks: number; ends: { state: string; reason?: string } };
  }
> {
  const row = (more: Partial<StoredRecord>): StoredRecord => ({
    ...{ id: randomUUID(), name: '', type: 'NS', content: 'ns1.exoscale.ch', ttl: 3600, 'created-at': '2026-01-01' },
    ...more,
  });
  const records = [row({ 'system-record': true })];
  const zones = [{ ...ZONE }];
  const world: { looks: number; ends: { state: string; reason?: string } } = { looks: 0, ends: { state: 'success' } };
  const operations = new Map<string, { left: number; reference: string }>();
  const no = (status: number, message: string): Answer => ({ status, body: { message } });

  function isSigned({ method, path, query, headers, body }: Received): boolean {
    const header = /^EXO2-HMAC-SHA256 credential=a-key,expires=(\d+),signature=(.+)$/.exec(headers.authorization ?? '');
    if (!header || Object.keys(query).length || Number(header[1]) * 1000 < Date.now()) return false;
    const text = body === undefined ? '' : JSON.stringify(body);
    const message = `${method} ${path}\n${text}\n\n\n${header[1]}`;
    return createHmac('sha256', 'a-secret').update(message).digest('base64') === header[2];
  }
  function operation(id: string): Answer {
    const known = operations.get(id);
    if (!known) return no(404, 'Operation not found');
    const ended = known.left-- <= 0 ? world.ends : { state: 'pending' };
    const reference = { id: known.reference, link: `/v2/…/${known.reference}`, command: 'get-dns-domain-record' };
    return { body: { id, ...ended, reference } };
  }
  function begun(reference: string): Answer {
    const id = randomUUID();
    operations.set(id, { left: world.looks, reference });
    return operation(id);
  }
  const refused = (one: StoredRecord): string | null => {
    const { id, name, type, content, priority } = one;
    const invalid = (words: string) => `Validation failed (${words})`;
    if (!TYPES.includes(type)) return invalid('type: is not supported');
    if (!content) return invalid("content: can't be blank");
    if (type === 'SRV' && !/^\d+ \d+ \S+$/.test(content))
      return invalid('content: must consist of <weight (0-65535)> <port (0-65535)> <target> fields');
    if (/^(MX|SRV)$/.test(type) && !Number.isInteger(priority)) return invalid('priority: must be a number');
    if (/^(ALIAS|CNAME|MX|NS|PTR|SRV)$/.test(type) && content.endsWith('.')) return invalid('content: is invalid');
    if (type === 'TXT' && content.split('"').length % 2 === 0) return invalid('content: unbalanced quotes');
    if (type === 'NS' && !name) return invalid('name: is reserved');
    const beside = records.filter((r) => r.id !== id && r.name === name);
    if (beside.some((r) => r.type === type && r.content === content && r.priority === priority))
      return invalid('Zone record already exists');
    const cname = beside.length && (type === 'CNAME' || beside.some((r) => r.type === 'CNAME'));
    return cname ? invalid('CNAME beside others') : null;
  };

  const standIn = await startStandIn((request) => {
    const { method, path, body } = request;
    if (!isSigned(request)) return no(403, 'Invalid request signature');
    const [, what, id, , recordId] = path.split('/').map(decodeURIComponent);
    if (what === 'operation') return operation(id ?? '');
    if (path === '/dns-domain') return { body: { 'dns-domains': zones } };
    if (id !== ZONE.id) return no(404, 'Domain not found');
    const now = records.find((r) => r.id === recordId);
    if (recordId && !now) return no(404, 'Record not found');
    if (method === 'GET') return { body: now ?? { 'dns-domain-records': records } };
    if (method === 'DELETE') {
      records.splice(records.indexOf(now as StoredRecord), 1);
      return begun(recordId ?? '');
    }
    const given = body as Partial<StoredRecord>;
    if (now && given.type !== undefined) return no(400, 'Invalid request: type');
    const made = row({ ...now, ...given, id: now?.id ?? randomUUID() });
    const why = refused(made);
    if (why) return no(400, why);
    if (world.ends.state === 'success') records.splice(now ? records.indexOf(now) : records.length, now ? 1 : 0, made);
    return begun(made.id);
  });
  return Object.assign(standIn, { records, zones, world });
}
