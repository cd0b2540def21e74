import { absolute, fullName } from '../../dns/names.js';
import { type DnsRecord, fromRdata, type RemoteRecord } from '../../dns/record.js';
import { txtPresentation } from '../../dns/text.js';
import { wordsIn } from '../kit/http/errors.js';
import { allPages, byId } from '../kit/http/pages.js';
import { fromList } from '../kit/records/from-records.js';
import { changedPart } from '../kit/records/record-verbs.js';
import { typedFields } from '../kit/values/rdata-fields.js';
import { readEach } from '../kit/values/unreadable.js';
import { recordPath, zoneOf } from '../kit/zone/zones.js';
import type { Connect, RemoteZone } from '../provider.js';

/** As the API has it (OpenAPI 2026): names relative, `@` at the apex, also as a target. */
interface ApiRecord extends Record<string, unknown> {
  id: number;
  type: string;
  name: string;
  data: string;
  ttl: number;
}
type ListAnswer<T> = { [key: string]: T[] | undefined } & { meta?: { total: number } };

// `data` of MX, SRV and CAA is the name or text at their end; without its final dot a name is relative to the zone
const FIELDS = typedFields({ names: { target: 'data', value: 'data' }, dots: true });
const NAMES = ['CNAME', 'NS', 'MX', 'SRV'];
/** of which fields those of the API follow; the others hold the value */
const SOURCES = { name: ['host'], ttl: ['ttl'] } as const;

export const connect: Connect = ({ token }, context) => {
  const http = context.http.extend({ headers: { authorization: `Bearer ${token}` }, errorMessage: wordsIn('message') });
  const list = <T>(path: string, key: string, idOf: (entry: T) => string | number, query = {}): Promise<T[]> =>
    allPages(idOf, async ({ page }) => {
      const answer = await http.get<ListAnswer<T> | undefined>(path, { query: { ...query, page, per_page: 200 } });
      return { entries: answer?.[key], total: answer?.meta?.total ?? Number.NaN };
    });
  const records = async (zone: RemoteZone, query = {}): Promise<RemoteRecord[]> =>
    readEach(await list<ApiRecord>(pathOf(zone), 'domain_records', byId, query), zone.name, fromApi);
  type One = { domain_record: ApiRecord };

  return {
    check: async () => void (await http.get('/domains', { query: { per_page: 1 } })),
    async listZones() {
      const zones = await list<{ name: string }>('/domains', 'domains', (zone) => zone.name);
      return zones.map(({ name }) => zoneOf(name));
    },
    ...fromList(records, {
      async createRecord(zone, record) {
        const { domain_record: made } = await http.post<One>(pathOf(zone), { json: toApi(record) });
        return String(made.id);
      },
      async updateRecord(zone, before, after, changed) {
        const whole = toApi(after);
        // PATCH demands the type (OpenAPI), and fields of another type would stay
        const part = { ...changedPart(whole, changed, SOURCES), type: after.type };
        const [method, json] = changed.has('type') ? (['PUT', whole] as const) : (['PATCH', part] as const);
        const { domain_record: now } = await http.call<One>(method, pathOf(zone, before), { json, idempotent: true });
        // PATCH and PUT answer the whole record (OpenAPI): what else was changed there is seen
        return fromApi(now, zone.name) ?? String(now.id);
      },
      deleteRecord: (zone, before) => http.delete(pathOf(zone, before)),
      readRecord: async (zone, before) => fromApi((await http.get<One>(pathOf(zone, before))).domain_record, zone.name),
      findRecords: (zone, { type, host }) => records(zone, { type, name: fullName(host, zone.name) }),
    }),
  };
};

const pathOf = recordPath('/domains', 'records');

function fromApi(record: ApiRecord, zone: string): RemoteRecord | null {
  const { type, name } = record;
  // names come without their final dot, the apex as "@" (seen by octoDNS)
  const data = !NAMES.includes(type)
    ? record.data
    : record.data === '@'
      ? `${zone}.`
      : record.data.replace(/\.?$/, '.');
  const text = type === 'TXT' ? txtPresentation(data) : type === 'CAA' ? data.replace(/\.$/, '') : data;
  const rdata = FIELDS.rdata(type, { ...record, data: text }) ?? text;
  // what the API shows of the SOA is its TTL (recorded 2020); `fromRdata` leaves it out
  const read = fromRdata(fullName(name, zone), type, rdata, record.ttl, zone);
  return read && { ...read, remoteId: String(record.id) };
}

function toApi(record: DnsRecord): object {
  const { host: name, type, value, ttl } = record;
  const fields = FIELDS.of(record) ?? { data: NAMES.includes(type) ? absolute(value) : value };
  // the name of an authority needs its final dot as well (seen by octoDNS); other texts of CAA have none
  if (type === 'CAA' && /^[\w.-]+$/.test(String(fields.data))) fields.data = `${fields.data}.`;
  return { type, name, ttl, ...fields };
}
