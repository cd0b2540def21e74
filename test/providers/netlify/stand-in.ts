import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

export interface StoredRecord {
  id: string;
  hostname: string;
  type: string;
  value: string;
  ttl: number;
  priority: number | null;
  weight: number | null;
  port: number | null;
  flag: number | null;
  tag: string | null;
  site_id: string | null;
  dns_zone_id: string;
  managed: boolean;
}

const ZONE = { id: 'u6b4336178f002e0a06bb0b6', name: 'contract.example' };
const TYPES = 'A AAAA ALIAS CAA CNAME MX NS SPF SRV TXT'.split(' ');

/** What the API does (Swagger 2026, samples of lego, the guide on records of Netlify's own): no updates. */
export async function startNetlify(): Promise<
  StandIn & { records: StoredRecord[]; zones: { id: string; name: string }[]; most: { page: number } }
> {
  const records: StoredRecord[] = [];
  const zones = [{ ...ZONE, supported_record_types: TYPES, errors: [], dedicated: false }];
  const most = { page: Number.POSITIVE_INFINITY };
  let made = 0;
  const no = (code: number, message: string): Answer => ({ status: code, body: { code, message } });

  const standIn = await startStandIn(({ method, path, query, headers, body }) => {
    if (headers.authorization !== 'Bearer a-token') return no(401, 'Access Denied');
    const page = (all: object[]): Answer => {
      const number = Number(query.page ?? 1);
      const more = number * most.page < all.length;
      const link = `<https://api.netlify.com/api/v1${path}?page=${number + 1}>; rel="next"`;
      const at = number > 1 ? (number - 1) * most.page : 0;
      return { headers: more ? { link } : {}, body: all.slice(at, at + most.page) };
    };
    if (path === '/dns_zones') return page(zones);
    const [, , zoneId, what, id] = path.split('/').map(decodeURIComponent);
    if (zoneId !== ZONE.id || what !== 'dns_records') return no(404, 'Not Found');
    const now = records.find((record) => record.id === id);
    if (id && !now) return no(404, 'Not Found');
    if (method === 'GET') return now ? { body: now } : page(records);
    if (method === 'DELETE') {
      if (now?.managed) return no(422, 'managed records cannot be deleted');
      records.splice(records.indexOf(now as StoredRecord), 1);
      return { status: 204 };
    }
    if (method !== 'POST' || id) return no(405, 'Method Not Allowed');
    const parts = { priority: null, weight: null, port: null, flag: null, tag: null };
    const rest = { id: `u${(++made).toString(16).padStart(24, '0')}`, site_id: null, managed: false };
    const given = body as Omit<StoredRecord, 'ttl'> & { ttl?: number };
    const record = { ttl: 3600, ...parts, ...given, ...rest, dns_zone_id: ZONE.id, errors: [] };
    if (!TYPES.includes(record.type)) return no(422, 'type is not supported');
    if (!record.value) return no(422, "value can't be blank");
    if (record.hostname !== ZONE.name && !record.hostname.endsWith(`.${ZONE.name}`)) return no(422, 'not in the zone');
    if (/^(CNAME|NS|MX|SRV|ALIAS)$/.test(record.type) && record.value.endsWith('.')) return no(422, 'value is invalid');
    if (record.type === 'SRV' && [record.priority, record.weight, record.port].includes(null))
      return no(422, 'a SRV needs priority, weight and port');
    const beside = records.filter(({ hostname }) => hostname === record.hostname);
    if (/^A(AAA)?$/.test(record.type) && beside.some(({ type }) => type.startsWith('NETLIFY')))
      return no(400, 'link exists, all config must be empty');
    if (beside.some(({ type }) => type === 'CNAME' || record.type === 'CNAME')) return no(400, 'record already exists');
    records.push(record);
    return { status: 201, body: record };
  });
  return Object.assign(standIn, { records, zones, most });
}
