import { createHmac } from 'node:crypto';
import { fullName } from '../../dns/names.js';
import { type DnsRecord, fromRdata, type RemoteRecord } from '../../dns/record.js';
import { txtFromInput, txtPresentation } from '../../dns/text.js';
import { timeMs } from '../../platform/common/clock.js';
import { idText, needed, orNull, ProviderError } from '../kit/http/errors.js';
import { allPages } from '../kit/http/pages.js';
import { fromRecords } from '../kit/records/from-records.js';
import { changedPart } from '../kit/records/record-verbs.js';
import { absoluteRdata } from '../kit/values/absolute-rdata.js';
import { typedFields } from '../kit/values/rdata-fields.js';
import { readEach } from '../kit/values/unreadable.js';
import { refuseRoot } from '../kit/values/value-limits.js';
import { recordPath, zoneOf } from '../kit/zone/zones.js';
import type { Connect, RemoteZone } from '../provider.js';

/** As the API has it (recorded 2018): names relative, empty at the apex; targets relative without their final dot. */
type ApiRecord = { id: number; name: string; type: string; value: string; ttl: number } & {
  /** 0: of a template */
  source?: number;
  gtdLocation?: string;
  dynamicDns?: boolean;
  failover?: boolean;
  monitor?: boolean;
};
type ApiZone = { id: number; name: string };
type List<T> = { data?: T[]; totalPages?: number; totalRecords?: number } | undefined;

/** How the parts of a priority type are called (samples of octoDNS 2021, dnscontrol 2022). */
const NAMES = { priority: 'mxLevel', flags: 'issuerCritical', tag: 'caaType', target: 'value' };
const FIELDS = {
  MX: typedFields({ names: NAMES, dots: true }),
  SRV: typedFields({ names: { target: 'value' }, dots: true }),
  CAA: typedFields({ names: NAMES }),
};
const TARGETS = /^(ANAME|CNAME|MX|NS|PTR|SRV)$/;
const SOURCES = { name: ['host'], ttl: ['ttl'], type: [] } as const;

export const connect: Connect = ({ api_key = '', secret_key = '' }, context) => {
  const http = context.http.extend({
    headers: { 'x-dnsme-apikey': api_key },
    sign: (request) => {
      const date = new Date(timeMs()).toUTCString();
      const hmac = createHmac('sha1', secret_key).update(date).digest('hex');
      return { ...request, headers: { ...request.headers, 'x-dnsme-requestdate': date, 'x-dnsme-hmac': hmac } };
    },
    errorMessage: wordsOf,
    errorKind: (status, body) => (status === 400 && /rate limit/i.test(wordsOf(body) ?? '') ? 'rate_limit' : undefined),
  });
  // pages count from 0; the first is what is answered when none is named (recorded 2018)
  const list = <T extends { id: number }>(path: string, query = {}): Promise<T[]> =>
    allPages(
      ({ id }) => id,
      async ({ page }) => {
        const {
          data,
          totalPages = 0,
          totalRecords,
        } = (await http.get<List<T>>(path, { query: { ...query, page: page === 1 ? undefined : page - 1 } })) ?? {};
        return { entries: data, total: totalRecords ?? Number.NaN, next: page < totalPages ? page + 1 : null };
      },
    );
  const shown = (zone: RemoteZone, all: ApiRecord[]) => readEach(all, zone.name, fromApi);
  const at = (zone: RemoteZone, { host, type }: DnsRecord) =>
    list<ApiRecord>(pathOf(zone), { recordName: nameIn(host), type });
  const find = async (zone: RemoteZone, before: RemoteRecord) =>
    (await at(zone, before)).find(({ id }) => String(id) === before.remoteId);

  return {
    check: () => http.get('/dns/managed'),
    listZones: async () => (await list<ApiZone>('/dns/managed')).map(({ id, name }) => zoneOf(name, idText(id))),
    findZone(domainname) {
      const asked = http.get<ApiZone | undefined>('/dns/managed/name', { query: { domainname } });
      return orNull(asked.then((zone) => zoneOf(needed(zone?.name, 'name'), idText(zone?.id))));
    },
    listRecords: async (zone) => shown(zone, await list(pathOf(zone))),
    apply: fromRecords({
      judge: (record) => refuseRoot(record, 'DNS Made Easy'),
      fixed: ['type'],
      vague: true,
      async createRecord(zone, record) {
        const made = await http.post<ApiRecord | undefined>(`${pathOf(zone)}/`, { json: toApi(record) });
        return needed(made?.id && fromApi(made, zone.name), 'record');
      },
      async updateRecord(zone, before, after, changed) {
        const held = await find(zone, before);
        if (!held) throw new ProviderError('not_found', 'There is no such record at DNS Made Easy any more', false);
        // an update replaces the whole record: what is not changed is sent back
        const json = { ...held, ...changedPart(toApi(after), changed, SOURCES) };
        await http.put(pathOf(zone, before), { json });
        return before.remoteId;
      },
      deleteRecord: (zone, before) => http.delete(pathOf(zone, before)),
      async readRecord(zone, before) {
        const held = await find(zone, before);
        return held ? fromApi(held, zone.name) : null;
      },
      findRecords: async (zone, record) => shown(zone, await at(zone, record)),
      isDuplicate: ({ message }) => /already exists/.test(message),
    }),
  };
};

const nameIn = (host: string): string => (host === '@' ? '' : host);
const pathOf = recordPath('/dns/managed', 'records');

function wordsOf(body: unknown): string | undefined {
  const { error } = (body ?? {}) as { error?: string | string[] };
  return [error ?? []].flat().join('; ') || undefined;
}

function fromApi(record: ApiRecord, zone: string): RemoteRecord | null {
  const { id, name, type, ttl, source, gtdLocation = 'DEFAULT', dynamicDns, failover, monitor } = record;
  const text = type === 'TXT' ? txtPresentation(txtFromInput(record.value)) : record.value.replace(/^"(.*)"$/s, '$1');
  // an empty target is the zone (samples of octoDNS 2021)
  const value = TARGETS.test(type) ? text || '@' : text;
  const parts = type in FIELDS ? FIELDS[type as keyof typeof FIELDS].rdata(type, { ...record, value }) : value;
  const rdata = absoluteRdata(type, parts ?? value, zone);
  const read = fromRdata(fullName(name || '@', zone), type, rdata, ttl, zone);
  const fixed = source === 0 || gtdLocation !== 'DEFAULT' || dynamicDns || failover || monitor || false;
  return read && { ...read, remoteId: idText(id), readOnly: read.readOnly || fixed };
}

function toApi(record: DnsRecord): object {
  const { host, type, value, ttl } = record;
  const text = type === 'TXT' ? txtPresentation(value) : TARGETS.test(type) ? `${value}.` : value;
  const fields = type in FIELDS ? FIELDS[type as keyof typeof FIELDS].of(record) : { value: text };
  return { name: nameIn(host), type, ttl, ...fields };
}
