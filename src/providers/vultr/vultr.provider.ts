import { fullName } from '../../dns/names.js';
import { type DnsRecord, fromRdata, type RemoteRecord, rdataOf } from '../../dns/record.js';
import { NotBegun, needed, wordsIn } from '../kit/http/errors.js';
import { allPages } from '../kit/http/pages.js';
import { fromList } from '../kit/records/from-records.js';
import { changedPart, type RecordVerbs } from '../kit/records/record-verbs.js';
import { readEach } from '../kit/values/unreadable.js';
import { refuseText } from '../kit/values/value-limits.js';
import { recordPath, zoneOf } from '../kit/zone/zones.js';
import type { Connect, RemoteZone } from '../provider.js';

/** As the API has it (recorded 2021): names relative, targets without final dot, texts quoted, a priority always. */
type ApiRecord = { id: string; type: string; name: string; data: string; priority?: number; ttl: number };
type ApiZone = { domain: string };
type List<T> = { [key: string]: T[] | undefined } & { meta?: { total?: number; links?: { next?: string } } };
type One = { record?: ApiRecord } | undefined;

/** of which fields those of the API follow */
const SOURCES = { name: ['host'], ttl: ['ttl'], priority: ['priority'], data: ['value'] } as const;

export const connect: Connect = ({ api_key }, context) => {
  const http = context.http.extend({ headers: { authorization: `Bearer ${api_key}` }, errorMessage: wordsIn('error') });
  const list = <T extends ApiRecord | ApiZone>(path: string, key: string) =>
    allPages<T>(keyOf, async ({ next: cursor }) => {
      const query = { per_page: 500, cursor: cursor ?? undefined };
      const { meta, ...answer } = (await http.get<List<T> | undefined>(path, { query })) ?? {};
      // the last page has an empty link; without one the list is cut
      const next = meta?.links?.next === '' ? null : (meta?.links?.next ?? '');
      return { entries: answer[key], next, total: meta?.total ?? Number.NaN };
    });
  const records = async (zone: RemoteZone): Promise<RemoteRecord[]> =>
    readEach(await list<ApiRecord>(pathOf(zone), 'records'), zone.name, fromApi);
  const verbs: RecordVerbs = {
    // PATCH takes no type, and keeps what is not sent (recorded 2021)
    fixed: ['type'],
    async createRecord(zone, record) {
      const made = (await http.post<One>(pathOf(zone), { json: toApi(record) }))?.record;
      return needed(made?.id, 'record');
    },
    async updateRecord(zone, before, after, changed) {
      const json = changedPart(toApi(after), changed, { ...SOURCES, type: [] });
      await http.patch(pathOf(zone, before), { json, idempotent: true });
      return before.remoteId;
    },
    deleteRecord: (zone, before) => http.delete(pathOf(zone, before)),
    async readRecord(zone, before) {
      const read = (await http.get<One>(pathOf(zone, before)))?.record;
      return fromApi(needed(read?.id && read, 'record'), zone.name);
    },
  };
  return {
    check: async () => void (await http.get('/domains', { query: { per_page: 1 } })),
    listZones: async () => (await list<ApiZone>('/domains', 'domains')).map(({ domain }) => zoneOf(domain)),
    ...fromList(records, verbs),
  };
};

const pathOf = recordPath('/domains', 'records');

const keyOf = (one: ApiRecord | ApiZone): string => ('domain' in one ? one.domain : one.id);
const hasPriority = (type: string): boolean => type === 'MX' || type === 'SRV';

function fromApi({ id, type, name, data, priority, ttl }: ApiRecord, zone: string): RemoteRecord | null {
  const rdata = hasPriority(type) ? `${priority} ${data}` : data;
  const read = fromRdata(fullName(name || '@', zone), type, rdata, ttl, zone);
  return read && { ...read, remoteId: id };
}

function toApi(record: DnsRecord): object {
  // quotes inside of a text are not taken, escaped or not (dnscontrol 2021)
  refuseText(record, 'Vultr', { never: [[/"/, 'quotes in it']] });
  const { host, type, value, ttl, priority } = record;
  // "Data must be in the format: [flag] [iodef|issuewild|issue] \"domain\"" (told by dnscontrol 2023)
  if (type === 'CAA' && /\s/.test(value.replace(/^\S+ \S+ /, '')))
    throw new NotBegun('rejected', 'Vultr takes no CAA value with parameters or blanks');
  const rdata = hasPriority(type) ? rdataOf(record).replace(/^\d+ /, '') : rdataOf(record);
  const data = /^(CNAME|NS|MX|SRV)$/.test(type) ? rdata.replace(/(?<=\S)\.$/, '') : rdata;
  return { type, name: host === '@' ? '' : host, data, ttl, priority: priority ?? 0 };
}
