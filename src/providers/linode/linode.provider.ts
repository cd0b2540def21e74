import type { DnsRecord, RemoteRecord } from '../../dns/record.js';
import { NotBegun, needed } from '../kit/http/errors.js';
import { allPages, byId, counted } from '../kit/http/pages.js';
import { fromList } from '../kit/records/from-records.js';
import { plainRecord } from '../kit/records/plain-record.js';
import { typedFields } from '../kit/values/rdata-fields.js';
import { readEach } from '../kit/values/unreadable.js';
import { EMPTY, refuseText } from '../kit/values/value-limits.js';
import { zoneNamed, zoneOf } from '../kit/zone/zones.js';
import type { Connect, RemoteZone } from '../provider.js';

/**
 * As the API has it (OpenAPI 2024; lexicon 2018): names relative, no final dots, texts not quoted; TTL 0: the zone's.
 */
type ApiRecord = { id: number; type: string; name: string; target: string; ttl_sec: number } & Record<string, unknown>;
type ApiZone = { id: number; domain: string; type: string; ttl_sec: number };
type List<T> = { data?: T[]; results?: number } | undefined;
type Errors = { errors?: { reason: string; field?: string }[] } | null;
const FIELDS = typedFields({ names: { value: 'target' } });

export const connect: Connect = ({ token }, context) => {
  const words = (body: unknown) => (body as Errors)?.errors?.map(({ reason, field = 'all' }) => `${field}: ${reason}`);
  const errorMessage = (body: unknown) => words(body)?.join('; ');
  const http = context.http.extend({ headers: { authorization: `Bearer ${token}` }, errorMessage });
  const list = <T extends { id: number }>(path: string, filter: object = {}) =>
    allPages<T>(byId, async ({ page }) => {
      const more = { query: { page, page_size: 500 }, headers: { 'x-filter': JSON.stringify(filter) } };
      const answer = await http.get<List<T>>(path, more);
      return counted(answer?.data, answer?.results);
    });
  const zones = async (filter = {}): Promise<RemoteZone[]> => {
    const ours = (await list<ApiZone>('/domains', filter)).filter(({ type }) => type !== 'slave'); // elsewhere
    return ours.map(({ id, domain }) => zoneOf(domain, id));
  };
  const shown = async (zone: RemoteZone, all: readonly ApiRecord[]): Promise<RemoteRecord[]> => {
    const bare = all.some((record) => record?.ttl_sec === 0);
    const ttl = (bare && (await http.get<ApiZone | undefined>(pathOf(zone)))?.ttl_sec) || 86400;
    return readEach(all, zone.name, (record) => fromApi(record, zone.name, record.ttl_sec || ttl));
  };
  const one = async (zone: RemoteZone, record?: ApiRecord) =>
    (await shown(zone, [needed(record?.id && record, 'record')]))[0] as RemoteRecord;
  const records = async (zone: RemoteZone, filter = {}) => shown(zone, await list(`${pathOf(zone)}/records`, filter));
  return {
    check: async () => void (await http.get('/domains', { query: { page_size: 25 } })),
    listZones: () => zones(),
    findZone: (domain) => zoneNamed(domain, zones({ domain })),
    ...fromList(records, {
      judge: toApi,
      fixed: ['type'],
      whole: true,
      async createRecord(zone, record) {
        const [type, json] = [record.type, toApi(record)];
        const made = await one(zone, await http.post(`${pathOf(zone)}/records`, { json: { type, ...json } }));
        // a new record may be without its TTL (dnscontrol 2020); what it is rounded to is told
        if (made.ttl === record.ttl) return made;
        return one(zone, await http.put(pathOf(zone, made), { json }));
      },
      updateRecord: async (zone, before, after) =>
        one(zone, await http.put(pathOf(zone, before), { json: toApi(after) })),
      deleteRecord: (zone, before) => http.delete(pathOf(zone, before)),
      readRecord: async (zone, before) => one(zone, await http.get(pathOf(zone, before))),
      findRecords: (zone, { type }) => records(zone, { type }),
    }),
  };
};

const pathOf = (zone: RemoteZone, record?: RemoteRecord): string =>
  `/domains/${encodeURIComponent(zone.id)}${record ? `/records/${record.remoteId}` : ''}`;

function fromApi(record: ApiRecord, zone: string, ttl: number): RemoteRecord | null {
  const { id, type, name, target, service, protocol } = record;
  const host = type === 'SRV' ? `${service}.${protocol}`.replace(/(^|\.)_?/g, '$1_') : name;
  // there are no flags of CAA; a mail host that is empty says that there is none
  const value = FIELDS.rdata(type, { ...record, flags: 0, target: target || '.' }) ?? target;
  return plainRecord({ id, host, type, value, ttl }, zone);
}

/** All but the type, which an update does not take. */
function toApi(record: DnsRecord): object {
  const { host, type, value, ttl: ttl_sec } = record;
  const [, service, protocol] = /^_([^.]+)\._([^.]+)$/.exec(host) ?? [];
  const { flags, ...fields } = FIELDS.of(record) ?? { target: value };
  refuseText(record, 'Linode', { never: [EMPTY] });
  const noMail = type === 'MX' && value === '.'; // its rules, and those of CAA: OpenAPI 2024
  const words =
    (flags && 'CAA without flags (0)') ||
    (type === 'CAA' && !/^\d+ \w+ "\w/.test(value) && 'CAA that names somebody') ||
    (noMail && (host !== '@' || record.priority) && 'MX without a target at the zone itself, with priority 0,') ||
    (type === 'SRV' && !service && 'SRV at _service._protocol of the zone');
  if (words) throw new NotBegun('rejected', `Linode takes ${words} only`);
  const place = type === 'SRV' ? { service, protocol } : { name: host === '@' ? '' : host };
  return { ttl_sec, ...place, ...fields, ...(noMail ? { target: '' } : {}) };
}
