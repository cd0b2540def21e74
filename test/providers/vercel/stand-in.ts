import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

export interface Stored {
  id: string;
  name: string;
  type: string;
  value: string;
  ttl: number;
  creator: string;
  createdAt: number;
  comment?: string;
  mxPriority?: number;
  priority?: number;
}
type Parts = { priority: number; weight?: number; port?: number; target: string; params?: string };
type Sent = Partial<Stored> & { srv?: Parts; https?: Parts };

const TYPES = ['A', 'AAAA', 'ALIAS', 'CAA', 'CNAME', 'HTTPS', 'MX', 'SRV', 'TXT', 'NS'];

/**
 * What the API does (documentation of 2026, traffic of 2021, what dnscontrol saw in 2025): newest first, pages by time
 * of which also the last one has a `next`, parts of SRV and HTTPS apart when written and not when read.
 */
export async function startVercel(): Promise<StandIn & { records: Stored[]; most: { page: number }; clock: number[] }> {
  const domain = { id: 'dom1', name: 'contract.example', serviceType: 'zeit.world', createdAt: 1_600_000_000_000 };
  const records: Stored[] = [];
  const most = { page: 100 };
  /** times that new records get, before the clock goes on by itself */
  const clock: number[] = [];
  let [ids, now] = [1, 1_628_537_900_000];
  const no = (status: number, code: string, message: string): Answer => ({
    status,
    body: { error: { code, message } },
  });
  const dotted = (name: string) => name.replace(/\.?$/, '.');

  /** A record as it is kept, of what was sent; a text where that is refused. */
  const read = (body: Sent, held?: Stored): string | Partial<Stored> => {
    const { srv, https, ...plain } = body;
    const type = held?.type ?? `${body.type}`;
    const { type: sent, ...rest } = plain;
    if (!TYPES.includes(type) || (sent && sent !== type)) return 'Invalid request: `type` should be equal to one of …';
    const parts = type === 'SRV' ? srv : type === 'HTTPS' ? https : undefined;
    if (/^(SRV|HTTPS)$/.test(type)) {
      if ('value' in rest) return 'Invalid request: should NOT have additional property `value`.';
      if (!parts) return held ? rest : `Invalid request: missing required property \`${type.toLowerCase()}\`.`;
      const { priority, weight, port, target, params } = parts;
      const value = type === 'SRV' ? `${weight} ${port} ${dotted(target)}` : `${dotted(target)} ${params}`.trim();
      return { ...rest, type, priority, value };
    }
    const value = rest.value ?? held?.value;
    if (!value) return 'Invalid request: missing required property `value`.';
    if (type === 'MX' && value === '.')
      return 'Invalid request: The specified value is not a fully qualified domain name.';
    if (type === 'CAA' && value.includes('";"')) return 'The specified value is not a fully qualified domain name.';
    if (type === 'CAA' && / issue\w* "[^"]*;/.test(value)) return 'Unexpected "cansignhttpexchanges" value.';
    if (type === 'NS' && (rest.name ?? held?.name) === '') return 'Cannot set NS records at the root level.';
    const ends = /^(CNAME|ALIAS|MX|NS)$/.test(type) ? dotted(value) : value;
    return { ...rest, type, value: ends };
  };
  const clashes = (one: Stored) => {
    const beside = records.filter((r) => r.name === one.name && r.id !== one.id && r.creator !== 'system');
    const twin = (r: Stored) => r.type === one.type && r.value === one.value && r.priority === one.priority;
    return beside.some(
      (r) => (twin(r) && r.mxPriority === one.mxPriority) || one.type === 'CNAME' || r.type === 'CNAME',
    );
  };

  const standIn = await startStandIn(({ method, path, query, headers, body }) => {
    if (headers.authorization !== 'Bearer a-token') return no(403, 'forbidden', 'Not authorized');
    const page = <T extends { createdAt: number }>(key: string, all: T[]): Answer => {
      const older = all.filter((one) => !query.until || one.createdAt < Number(query.until));
      const some = older
        .toSorted((a, b) => b.createdAt - a.createdAt)
        .slice(0, Math.min(most.page, Number(query.limit ?? 20)));
      const pagination = { count: some.length, next: some.at(-1)?.createdAt ?? null, prev: some[0]?.createdAt ?? null };
      return { body: { [key]: some, pagination } };
    };
    if (method === 'GET' && path === '/v5/domains') return page('domains', [domain]);
    const patched = /^\/v1\/domains\/records\/(\w+)$/.exec(path);
    const [, version, , name, , id = patched?.[1]] = path.split('/');
    if (!patched && name !== domain.name) return no(404, 'not_found', `Domain name \`${name}\` not found`);
    const found = records.find((r) => r.id === id);
    if (id && !found) return no(404, 'not_found', 'The DNS record was not found');
    if (found?.creator === 'system') return no(403, 'forbidden', 'The record is managed by the system');
    if (method === 'GET' && version === 'v4') return page('records', records);
    if (method === 'DELETE' && version === 'v2') {
      records.splice(records.indexOf(found as Stored), 1);
      return { body: {} };
    }
    if (!(patched && method === 'PATCH') && !(version === 'v2' && method === 'POST' && !id)) return { status: 405 };
    const taken = read(body as Sent, found);
    if (typeof taken === 'string') return no(400, 'bad_request', taken);
    if (Number((body as Sent).ttl ?? 60) < 60) return no(400, 'bad_request', 'Invalid request: `ttl` should be >= 60');
    const fresh = { id: `rec_${ids}`, creator: 'user1', createdAt: 0, ttl: 60, name: '', type: '', value: '' };
    const made: Stored = { ...(found ?? fresh), ...taken };
    if (clashes(made)) return no(409, 'conflict', 'A conflicting record exists');
    if (made.comment === '') delete made.comment;
    if (found) {
      records[records.indexOf(found)] = made;
      return { body: { ...made, type: 'record', recordType: made.type } };
    }
    ids++;
    now += 1000;
    records.push({ ...made, createdAt: clock.shift() ?? now });
    return { body: { uid: made.id, updated: 1 } };
  });
  return Object.assign(standIn, { records, most, clock });
}
