import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

export interface StoredRecord {
  id: string;
  domain: string;
  host: string;
  ttl: string;
  prio: string | null;
  type: string;
  rdata: string;
  geozone_id: string;
  last_mod: string;
}

const ZONE = 'contract.example';
const TYPES = 'A AAAA AFSDB ANAME CAA CERT CNAME DYN MX NAPTR NS PTR SPF SRV SSHFP TLSA TXT URL URLHTTPS'.split(' ');

/**
 * What the API does (traffic of 2016, samples of lego and octoDNS, what a Terraform provider saw in the sandbox in
 * 2026): offsets, numbers as texts, errors with a status of success or not, domains by their numbers.
 */
export async function startEasydns(): Promise<
  StandIn & { records: StoredRecord[]; domains: string[]; most: { page: number }; world: { indexed: boolean } }
> {
  let ids = 28453439;
  const row = (more: Partial<StoredRecord>): StoredRecord => ({
    ...{ id: String(ids++), domain: ZONE, host: '@', ttl: '0', prio: null, type: 'NS', rdata: 'LOCAL.' },
    ...{ geozone_id: '0', last_mod: '2026-01-01 00:00:00', ...more },
  });
  const soa = 'dns1.easydns.com. zone.easydns.com. %%NOW%% 3600 600 604800 10800';
  const records = [row({}), row({ type: 'SOA', rdata: soa })];
  const domains = [ZONE];
  const most = { page: 1000 };
  const world = { indexed: false };
  const no = (code: number, message: string, status = code): Answer => ({ status, body: { error: { code, message } } });

  const clash = (one: StoredRecord): Answer | null => {
    const { host, type, rdata, prio } = one;
    if (!TYPES.includes(type)) return no(400, 'Invalid record type');
    if (!(Number(one.ttl) >= 300 && Number(one.ttl) <= 86400)) return no(400, 'TTL out of range');
    if (!(Number(prio) >= 0 && Number(prio) <= 100)) return no(400, 'Priority out of range');
    const beside = records.filter((r) => r.id !== one.id && r.host === host);
    if (beside.some((r) => r.type === type && r.rdata === rdata && Number(r.prio) === Number(prio)))
      return no(409, 'Record already exists');
    const cname = beside.length && [one, ...beside].some((r) => r.type === 'CNAME');
    return cname ? no(409, 'CNAME beside other records') : null;
  };
  const texts = ({ ttl, prio, ...one }: StoredRecord) => ({ ...one, ttl: String(ttl), prio: String(prio ?? 0) });

  const standIn = await startStandIn(({ method, path, query, headers, body }) => {
    if (query.format !== 'json') return { status: 406 };
    if (headers.authorization !== `Basic ${btoa('a-token:a-key')}`) return no(401, 'Invalid credentials');
    const page = <T>(all: T[], shape: (some: T[]) => object): Answer => {
      const max = Math.min(most.page, Number(query.max ?? 1000));
      const start = Number(query.start ?? 0);
      const some = all.slice(start, start + max);
      return { body: { tm: 1, data: shape(some), count: some.length, total: all.length, start, max, status: 200 } };
    };
    const [, what, second, third, fourth, fifth] = path.split('/').map(decodeURIComponent);
    if (path === '/user') return { body: { msg: 'OK', data: { user: 'somebody' }, status: 200 } };
    if (what === 'domains') {
      if (third !== 'somebody') return no(400, 'Username provided does not match provided credentials');
      const named = domains.map((name) => ({ name, link: `https://rest.easydns.net/domain/${name}` }));
      return page(named, (some) => ({ user: 'somebody', ...(world.indexed ? { index: some } : { ...some }) }));
    }
    if (what === 'domain') {
      const has = domains.includes(second ?? '') ? 'Y' : 'N';
      return { body: { msg: 'OK', data: { id: second, domain: second, exists: has, onsystem: has }, status: 200 } };
    }
    const given = { ...(body as StoredRecord) };
    if (method === 'GET')
      return third === 'all' && fourth === ZONE ? page(records, (some) => some) : no(403, 'Access denied');
    if (method === 'PUT') {
      if (fourth !== ZONE || fifth !== given.type) return no(403, 'Access denied');
      const made = texts(row({ ...given, id: String(ids++) }));
      const why = clash(made);
      if (why) return why;
      records.push(made);
      const { id, host, rdata } = made;
      const data = { host, geozone_id: 0, ttl: given.ttl, prio: given.prio, rdata, revoked: 0, id };
      return { status: 201, body: { msg: 'OK', tm: 1, data: { ...data, new_host: `${host}.${ZONE}` }, status: 201 } };
    }
    const at = records.findIndex((r) => r.id === (method === 'DELETE' ? fourth : third));
    if (at < 0 || (method === 'DELETE' && third !== ZONE)) return no(400, 'Could not find the record');
    if (method === 'DELETE') {
      records.splice(at, 1);
      return { body: { msg: 'OK', data: { domain: ZONE, id: fourth }, status: 200 } };
    }
    const made = texts({ ...(records[at] as StoredRecord), ...given });
    const why = clash(made);
    if (why) return why;
    records[at] = made;
    return { body: { msg: 'Record updated successfully.', tm: 1, data: made, status: 200 } };
  });
  return Object.assign(standIn, { records, domains, most, world });
}
