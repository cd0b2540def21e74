import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

export type Stored = { id: number; type: string; name: string; data: string; ttl: number } & Record<string, unknown>;

/** What the API does (OpenAPI 2026, traffic of 2020, octoDNS): pages of 20, and as many as 200 where that is asked. */
export async function startDigitalOcean(): Promise<StandIn & { records: Stored[]; most: { page: number } }> {
  const zone = 'contract.example';
  const records: Stored[] = [];
  const most = { page: 200 };
  let ids = 100;
  const no = (status: number, message: string): Answer => ({ status, body: { id: 'error', message } });
  const clash = (r: Partial<Stored>, id?: number) => {
    const beside = records.filter((other) => other.name === r.name && other.id !== id);
    if (beside.some((o) => o.type === r.type && o.data === r.data && o.priority === r.priority))
      return 'exists already';
    return beside.length && (r.type === 'CNAME' || beside.some((o) => o.type === 'CNAME')) ? 'CNAME records' : null;
  };
  /** The dot at the end of a name is demanded, and not shown. */
  const taken = (body: Record<string, unknown>): string | Record<string, unknown> => {
    const { type, data } = body as Stored;
    if (!['CNAME', 'MX', 'NS', 'SRV'].includes(type) || data === undefined) return body;
    if (!data.endsWith('.')) return 'Data needs to end with a dot (.)';
    return { ...body, data: data === `${zone}.` ? '@' : data === '.' ? '.' : data.slice(0, -1) };
  };
  const standIn = await startStandIn(({ method, path, query, headers, body }) => {
    if (headers.authorization !== 'Bearer a-token') return no(401, 'Unable to authenticate you');
    const page = <T>(key: string, all: T[]): Answer => {
      const size = Math.min(most.page, Number(query.per_page ?? 20));
      const at = (Number(query.page ?? 1) - 1) * size;
      return { body: { [key]: all.slice(at, at + size), links: {}, meta: { total: all.length } } };
    };
    if (path === '/domains') return page('domains', [{ name: zone, ttl: 1800, zone_file: '' }]);
    const [, , name, , id] = path.split('/');
    if (name !== zone) return no(404, 'The resource you were accessing could not be found.');
    const found = records.find((r) => r.id === Number(id));
    if (id && !found) return no(404, 'The resource you were accessing could not be found.');
    if (method === 'GET' && !id) {
      const full = (r: Stored) => (r.name === '@' ? zone : `${r.name}.${zone}`);
      const hit = (r: Stored) => (!query.name || full(r) === query.name) && (!query.type || r.type === query.type);
      const soa = { id: 1, type: 'SOA', name: '@', data: '1800', ttl: 1800 };
      return page('domain_records', [soa, ...records].filter(hit));
    }
    if (method === 'GET') return { body: { domain_record: found } };
    if (method === 'DELETE') {
      records.splice(records.indexOf(found as Stored), 1);
      return { status: 204 };
    }
    if (!(body as Stored).type) return no(422, 'Type is required');
    const read = taken(body as Stored);
    if (typeof read === 'string') return no(422, read);
    const made = { ...(method === 'PATCH' ? found : {}), ...read, id: found?.id ?? ids++ } as Stored;
    const why = clash(made, found?.id);
    if (why) return no(422, why);
    if (found) records[records.indexOf(found)] = made;
    else records.push(made);
    return { status: method === 'POST' ? 201 : 200, body: { domain_record: made } };
  });
  return Object.assign(standIn, { records, most });
}
