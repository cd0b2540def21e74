import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

export type Stored = { id: number; name: string; type: string; content: string; ttl: number; generated: boolean };

const TYPES = 'A AAAA ALIAS CAA CNAME MX NS PTR REDIRECT SOA SRV SSHFP TLSA TXT'.split(' ');
const TITLES: Record<number, string> = { 401: 'Unauthorized', 404: 'Not Found', 422: 'Unprocessable Entity' };

/** What the API does: its documentation of 2025, traffic of 2018 (shape of records, names absolute with final dot). */
export async function startLuadns(): Promise<
  StandIn & { records: Stored[]; zones: { id: number; name: string }[]; most: { page: number; told: boolean } }
> {
  const zones = [{ id: 39105, name: 'contract.example' }];
  const soa = 'ns1.luadns.net. hostmaster.luadns.com. 1521529623 1200 120 604800 3600';
  const records: Stored[] = [
    { id: 1, name: 'contract.example.', type: 'SOA', content: soa, ttl: 3600, generated: false },
    { id: 2, name: 'contract.example.', type: 'NS', content: 'ns1.luadns.net.', ttl: 86400, generated: false },
  ];
  const most = { page: 1000, told: true };
  let ids = 40753611;
  const no = (status: number, message: string): Answer => ({
    status,
    body: { status: TITLES[status], request_id: 'c9bfc4d5', message },
  });
  const whole = (record: Stored) => ({
    ...record,
    zone_id: 39105,
    created_at: '2018-03-20T07:18:08.068354Z',
    updated_at: '2018-03-20T07:18:08.068356Z',
  });
  const wrong = ({ id, name, type, content, ttl }: Stored): string | null => {
    if (!TYPES.includes(type)) return 'Type is invalid';
    if (!/(^|\.)contract\.example\.$/.test(name)) return 'Name is not in the zone';
    if (!content) return "Content can't be blank";
    if (/^(CNAME|NS|MX|SRV|PTR|ALIAS)$/.test(type) && !content.endsWith('.')) return 'Content is not a FQDN';
    if (!Number.isInteger(ttl) || ttl < 300) return 'TTL is too small';
    const beside = records.filter((other) => other.name === name && other.id !== id);
    if (beside.some((other) => other.type === type && other.content === content)) return 'Record already exists';
    const cname = type === 'CNAME' || beside.some((other) => other.type === 'CNAME');
    return beside.length && cname ? 'CNAME is not allowed beside other records' : null;
  };
  const standIn = await startStandIn(({ method, path, query, headers, body }) => {
    const basic = Buffer.from('joe@example.com:a-key').toString('base64');
    if (headers.authorization !== `Basic ${basic}`) return no(401, 'Invalid email or API key');
    const page = (all: object[]): Answer => {
      const asked = Number(query.limit ?? 0) || all.length;
      const limit = Math.min(asked, most.page);
      const at = Number(query.page ?? 1);
      const pages = Math.ceil(all.length / limit);
      const told = { 'x-page': at, 'x-limit': limit, 'x-total-pages': pages, 'x-total-count': all.length };
      return {
        body: all.slice((at - 1) * limit, at * limit),
        headers: most.told ? Object.fromEntries(Object.entries(told).map(([key, n]) => [key, String(n)])) : {},
      };
    };
    if (path === '/zones') return page(zones);
    const [, , zoneId, what, id] = path.split('/');
    if (zoneId !== '39105' || what !== 'records') return no(404, 'Zone not found');
    const found = records.find((record) => String(record.id) === id);
    if (id && !found) return no(404, 'Record not found');
    if (method === 'GET') return found ? { body: whole(found) } : page(records.map(whole));
    if (method === 'DELETE' && found) {
      records.splice(records.indexOf(found), 1);
      return { body: whole(found) };
    }
    const { name, type, content, ttl } = body as Stored;
    if (found && found.type !== type) return no(422, 'Type cannot be changed');
    const made = { id: found?.id ?? ids++, name, type, content, ttl, generated: false };
    const why = wrong(made);
    if (why) return no(422, why);
    if (found) records[records.indexOf(found)] = made;
    else records.push(made);
    return { body: whole(made) };
  });
  return Object.assign(standIn, { records, zones, most });
}
