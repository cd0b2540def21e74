import { fullName } from '../../dns/names.js';
import { type DnsRecord, fromRdata, type RemoteRecord } from '../../dns/record.js';
import { txtPresentation } from '../../dns/text.js';
import { cutShort, errorHooks, type VendorError } from '../kit/http/errors.js';
import { allPages, byId } from '../kit/http/pages.js';
import { fromList } from '../kit/records/from-records.js';
import { inList } from '../kit/records/in-place.js';
import { changedPart } from '../kit/records/record-verbs.js';
import { typedFields } from '../kit/values/rdata-fields.js';
import { readEach } from '../kit/values/unreadable.js';
import { recordPath, zoneOf } from '../kit/zone/zones.js';
import type { Connect, RemoteZone } from '../provider.js';

/** As the API lists it (recorded 2021; dnscontrol 2025): names relative, '' at the apex; texts as they are. */
type ApiRecord = { id: string; name: string; type: string; value: string; ttl: number; creator: string } & {
  comment?: string;
} & { [key in 'mxPriority' | 'priority']?: number };
type List<T> = { [key: string]: T[] | undefined } & { pagination?: { count: number; next: number | null } };
/** what is made has a `uid`, what is changed an `id` */
type Answer = { uid?: string; id?: string } | undefined;

/** entries of a page: more are not given */
const PAGE = 100;
/** of which fields those of the API follow; the others hold the value */
const SOURCES = { name: ['host'], ttl: ['ttl'], comment: ['remark'], type: [] } as const;
const FIELDS = typedFields({ names: { value: 'params' } });

export const connect: Connect = ({ api_token, team_id }, context) => {
  const http = context.http.extend({
    headers: { authorization: `Bearer ${api_token}` },
    ...errorHooks((body) => [(body as { error?: VendorError } | null)?.error ?? []].flat(), {}),
  });
  const team = { teamId: team_id || undefined };
  const list = <T>(path: string, key: 'domains' | 'records', idOf: (entry: T) => string): Promise<T[]> =>
    allPages(idOf, async ({ next }) => {
      // what was made before the time of the oldest one; others of that very millisecond may be on both pages
      const query = { ...team, limit: PAGE, until: next === null ? undefined : Number(next) + 1 };
      const { [key]: entries, pagination } = (await http.get<List<T> | undefined>(path, { query })) ?? {};
      const { count, next: oldest = '' } = pagination ?? {};
      // the last page has a `next` as well (recorded 2021): the page that it leads to has nothing older
      const last = oldest === null || (oldest === next && Number(entries?.length) < PAGE);
      return { entries, count, next: last ? null : oldest };
    });
  const records = async (zone: RemoteZone): Promise<RemoteRecord[]> =>
    readEach(await list<ApiRecord>(`/v4${pathOf(zone)}`, 'records', byId), zone.name, fromApi);
  const own = async (zone: RemoteZone) => (await records(zone)).filter(({ readOnly }) => !readOnly);

  return {
    check: async () => void (await http.get('/v5/domains', { query: { ...team, limit: 1 } })),
    async listZones() {
      const zones = await list<{ name: string }>('/v5/domains', 'domains', ({ name }) => name);
      return zones.map(({ name }) => zoneOf(name));
    },
    ...fromList(records, {
      // the type of a record cannot be changed (dnscontrol 2025)
      fixed: ['type'],
      async createRecord(zone, record) {
        const made = await http.post<Answer>(`/v2${pathOf(zone)}`, { query: team, json: toApi(record) });
        if (!made?.uid) throw cutShort('id of the record').applied(true);
        return made.uid;
      },
      async updateRecord(_zone, before, after, changed) {
        const json = changedPart(toApi(after), changed, SOURCES);
        const path = `/v1/domains/records/${encodeURIComponent(before.remoteId)}`;
        return (await http.patch<Answer>(path, { query: team, json, idempotent: true }))?.id ?? before.remoteId;
      },
      deleteRecord: (zone, before) => http.delete(`/v2${pathOf(zone, before)}`, { query: team }),
      readRecord: inList(own),
      findRecords: own,
    }),
  };
};

const pathOf = recordPath('/domains', 'records');

function fromApi({ id, name, type, value, ttl, creator, comment, ...rest }: ApiRecord, zone: string) {
  if (typeof id !== 'string' || typeof value !== 'string') throw cutShort('complete record');
  const { mxPriority: priority = rest.priority ?? 0 } = rest;
  const text = /^(MX|SRV|HTTPS)$/.test(type) ? `${priority} ${value}` : value;
  const rdata = type === 'TXT' ? txtPresentation(value) : text;
  const read = fromRdata(fullName(/^@?$/.test(name) ? '@' : name, zone), type, rdata, ttl, zone);
  // what Vercel makes itself can be neither changed nor deleted (dnscontrol 2025)
  const readOnly = !!read?.readOnly || creator === 'system';
  return read && { ...read, ...(comment ? { remark: comment } : {}), readOnly, remoteId: id };
}

function toApi(record: DnsRecord) {
  const { host, type, value, ttl, priority, remark: comment } = record;
  const common = { name: host === '@' ? '' : host, type, ttl, comment };
  // beside the parts of SRV and HTTPS a value is refused (dnscontrol 2025)
  if (/^(SRV|HTTPS)$/.test(type)) return { ...common, [type.toLowerCase()]: FIELDS.of(record) };
  return { ...common, value, ...(type === 'MX' ? { mxPriority: priority ?? 0 } : {}) };
}
