import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

/** A record set as the API holds it. */
interface HeldSet {
  id: string;
  name: string;
  type: string;
  ttl: number;
  records: string[] | null;
  line: string;
  status: string;
  weight: number;
  description: string | null;
  default: boolean;
  alias_target?: { resource_type: string; resource_domain_name: string };
}

export const HUAWEI_ZONE = { id: '2c9eb155587194ec01587224c9f90149', name: 'contract.example.' };
const NAMES = ['CNAME', 'MX', 'NS', 'SRV'];
const no = (status: number, code: string, message: string): Answer => ({ status, body: { code, message } });

/** What the API does (official model and error list, user guide on values; recorded 2023 of another of the family). */
export async function startHuaweicloud(): Promise<StandIn & { sets: HeldSet[]; most: { page: number } }> {
  const most = { page: 500 };
  let ids = 1;
  const make = (more: Partial<HeldSet>): HeldSet => ({
    id: `ff8080827274f00e0186cb36${String(ids++).padStart(8, '0')}`,
    name: HUAWEI_ZONE.name,
    type: 'A',
    ttl: 300,
    records: [],
    line: 'default_view',
    status: 'ACTIVE',
    weight: 1,
    description: null,
    default: false,
    ...more,
  });
  const soa = 'ns1.huaweicloud-dns.com. hostmaster.example.com. (1 7200 900 1209600 300)';
  const sets = [
    make({ type: 'SOA', records: [soa], default: true }),
    make({ type: 'NS', ttl: 172800, records: ['ns1.huaweicloud-dns.com.', 'ns1.huaweicloud-dns.cn.'], default: true }),
  ];
  const zones = [
    HUAWEI_ZONE,
    { id: 'ff80808261568dfe016156c446410001', name: 'my-contract.example.' },
    { id: 'ff80808261568dfe016156c446410002', name: '例子.example.' },
  ];

  /** The values as they are held; a word why they are refused. */
  function valuesOf(type: string, records: unknown): string[] | string {
    if (!Array.isArray(records) || records.length < 1 || records.length > 50) return 'records';
    if (new Set(records).size !== records.length) return 'records are duplicated';
    const held: string[] = [];
    for (const value of records as string[]) {
      if (type === 'TXT' && !/^"[^"\\]{0,255}"( "[^"\\]{0,255}")*$/.test(value)) return 'text';
      if (value.length > 4096) return 'length';
      if (type === 'MX' && !/^\d+ [^ .]/.test(value)) return 'mail server';
      if (type === 'CNAME' && records.length > 1) return 'more than one target';
      held.push(NAMES.includes(type) ? value.replace(/\.?$/, '.') : value);
    }
    return held;
  }

  const standIn = await startStandIn(({ method, path, query, headers, body }) => {
    const signed = /^SDK-HMAC-SHA256 Access=(\w+), SignedHeaders=([a-z0-9;-]+), Signature=[0-9a-f]{64}$/.exec(
      headers.authorization ?? '',
    );
    const names = signed?.[2]?.split(';') ?? [];
    if (signed?.[1] !== 'AKEXAMPLE' || !names.includes('host') || !names.includes('x-sdk-date')) {
      const error_msg = 'Incorrect IAM authentication information: verify aksk signature fail';
      return { status: 401, body: { error_msg, error_code: 'APIGW.0301', request_id: 'r-1' } };
    }
    if (!/^\d{8}T\d{6}Z$/.test(String(headers['x-sdk-date']))) return no(401, 'DNS.0005', 'Authentication required.');

    const page = (key: string, all: unknown[]): Answer => {
      const at = Number(query.offset ?? 0);
      const size = Math.min(Number(query.limit ?? 500), most.page);
      const metadata = { total_count: all.length };
      return { body: { links: { self: path }, [key]: all.slice(at, at + size), metadata } };
    };
    if (path === '/v2/zones') {
      const found = zones.filter(({ name }) => name.includes(query.name ?? ''));
      return page('zones', query.type === 'public' ? found : []);
    }
    if (path === '/v2.1/system-lines') {
      const line = (id: string, father_id: string, name: string) => ({ id, father_id, name });
      return page('lines', [
        line('default_view', 'DEFAULT', 'Default'),
        line('Dianxin', 'ISP', 'China Telecom'),
        line('Dianxin_Huabei', 'Dianxin', 'China Telecom, north'),
      ]);
    }
    const [, zone, id] = /^\/v2\.1\/zones\/([^/]+)\/recordsets(?:\/([^/]+))?$/.exec(path) ?? [];
    if (zone !== HUAWEI_ZONE.id) return no(404, 'DNS.0302', 'This zone does not exist.');
    const found = sets.find((set) => set.id === id);
    if (id && !found) return no(404, 'DNS.0313', 'This record set does not exist.');
    if (method === 'GET') return found ? { body: found } : page('recordsets', sets);
    if (method === 'DELETE') {
      if (found?.default) return no(403, 'DNS.0308', 'This record set is a default one and cannot be deleted.');
      sets.splice(sets.indexOf(found as HeldSet), 1);
      return { status: 202, body: { ...found, status: 'PENDING_DELETE' } };
    }
    const given = body as Partial<HeldSet>;
    const type = String(given.type);
    const values = valuesOf(type, given.records);
    if (typeof values === 'string') return no(400, 'DNS.0311', `Invalid record set value: ${values}.`);
    if (!given.ttl || given.ttl < 1) return no(400, 'DNS.0309', 'Invalid record set TTL value.');
    if (found) {
      // the name is demanded, and not changed (recorded)
      if (!given.name || type !== found.type) return no(400, 'DNS.0307', 'Invalid record set type.');
      Object.assign(found, { ttl: given.ttl, records: values });
      if (given.weight !== undefined) found.weight = given.weight;
      if (given.description !== undefined) found.description = given.description;
      return { status: 202, body: { ...found, status: 'PENDING_UPDATE' } };
    }
    const name = String(given.name).toLowerCase().replace(/\.?$/, '.');
    if (!`.${name}`.endsWith(`.${HUAWEI_ZONE.name}`)) return no(400, 'DNS.0303', 'Invalid record set name.');
    const line = given.line ?? 'default_view';
    const clash = sets.find(
      (set) =>
        set.name === name &&
        set.line === line &&
        (set.type === type || type === 'CNAME' || set.type === 'CNAME') &&
        !(type === 'CNAME' && ['SOA', 'NS'].includes(set.type) && name !== HUAWEI_ZONE.name),
    );
    if (clash) {
      const words = `Attribute 'name' conflicts with Record Set '${name}' type '${clash.type}' in line '${line}'.`;
      return no(400, 'DNS.0312', words);
    }
    const { weight = 1, description = null } = given;
    const made = make({ name, type, ttl: given.ttl, records: values, line, weight, description });
    sets.push(made);
    return { status: 202, body: { ...made, status: 'PENDING_CREATE' } };
  });
  return Object.assign(standIn, { sets, most });
}
