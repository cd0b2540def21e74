import type { DnsRecord, RemoteRecord } from '../../dns/record.js';
import { cutShort, errorHooks, needed, neededList, orNull } from '../kit/http/errors.js';
import { allPages } from '../kit/http/pages.js';
import { fromList } from '../kit/records/from-records.js';
import { inFound } from '../kit/records/in-place.js';
import { plainRecord } from '../kit/records/plain-record.js';
import { typedFields } from '../kit/values/rdata-fields.js';
import { readEach } from '../kit/values/unreadable.js';
import { refuseText } from '../kit/values/value-limits.js';
import { linesIn, zoneInfo, zoneOf } from '../kit/zone/zones.js';
import type { Connect, RemoteZone } from '../provider.js';

/** As answered (recorded 2018): `host` relative, empty at the apex; names without final dot, texts raw. */
type Row = { id: string; type: string; host: string; ttl: string } & Partial<Record<string, string | number>>;
/** A GeoDNS location, as ClouDNS's own script reads it: records say its id. */
type Place = { id: string | number; name: string; code?: string };
type Said = { status?: string; statusDescription?: string; data?: { id: number } };

const FIELDS = typedFields({ names: { target: 'record', flags: 'caa_flag', tag: 'caa_type', value: 'caa_value' } });
const TTLS = [60, 300, 900, 1800, 3600, 21600, 43200, 86400, 172800, 259200, 604800, 1209600, 2592000];
/** The TTL in its place: it has no others, and not even the usual 600. */
const next = (ttl: number): number => TTLS.find((one) => one >= ttl) ?? 2592000;
/** The code of the location that is none (a client of 2026): it is left out when a record is made. */
const EVERYWHERE = 'DEFAULT';
// what it refuses or drops (dnscontrol 2021); of the backslash it is not known
const NEVER = [[/["`\\]|\s$|^$/, 'a quote, a backtick, a backslash, a blank at its end, or nothing']] as const;

/** Failures have a status of 200, and words without a code (one recorded 2018, "record-id" in tests of lego). */
const errorOf = (body: unknown) => {
  const { status, statusDescription: message = 'It failed' } = (body ?? {}) as Said;
  return status === 'Failed' && { message };
};
const AUTH = /^Invalid authentication|access to the HTTP API/i;
const KINDS = { auth: [AUTH], not_found: [/^Missing domain-name|^Invalid record-id|^This is not a GEODNS zone/i] };

export const connect: Connect = ({ auth_id, sub_auth_id, auth_password }, context) => {
  const http = context.http.extend(errorHooks(errorOf, KINDS));
  const user = { 'auth-id': auth_id, 'sub-auth-id': sub_auth_id, 'auth-password': auth_password };
  // what reads may be POST, too: so the password is in no URL
  const call = <T>(what: string, given: object, reads = true) =>
    http.post<T>(`/${what}.json`, { form: { ...user, ...given }, reads, idempotent: what !== 'add-record' });
  const write = async (what: string, { id }: RemoteZone, given: object): Promise<Said> => {
    const said = await call<Said | undefined>(what, { 'domain-name': id, ...given }, false);
    if (said?.status !== 'Success') throw cutShort('status');
    return said;
  };
  const records = async (zone: RemoteZone, query = {}): Promise<RemoteRecord[]> => {
    const found = await call<Record<string, Row> | []>('records', { 'domain-name': zone.id, ...query });
    const rows = Object.values(found ?? {});
    // an object by id; a list only where there are none (recorded 2018)
    if (Array.isArray(found) !== (rows.length === 0)) throw cutShort('list');
    return readEach(rows, zone.name, fromApi);
  };

  return {
    check: () => call('login', {}),
    async listZones() {
      const rows = { 'rows-per-page': 100 };
      const pages = Number((await call<number | string | undefined>('get-pages-count', rows)) ?? Number.NaN);
      if (!Number.isInteger(pages)) throw cutShort('number of pages');
      const list = async ({ page }: { page: number }) => {
        const entries = await call<{ name: string }[]>('list-zones', { ...rows, page });
        return page < pages ? { entries, count: 100, next: page + 1 } : { entries, next: null };
      };
      return (await allPages(({ name }) => name, list)).map(({ name }) => zoneOf(name));
    },
    async zoneInfo({ id }) {
      const found = await orNull(call<Place[]>('get-geodns-locations', { 'domain-name': id }));
      if (!found) return zoneInfo({});
      const places = neededList(found, 'locations').filter(({ code }) => code !== EVERYWHERE);
      const lines = linesIn(places, (place) => ({ id: String(place.id), name: place.name }));
      return zoneInfo({ lines: [{ id: 'default', name: 'Default' }, ...lines] });
    },
    ...fromList(records, {
      judge: toApi,
      ...{ whole: true, apart: ['enabled'], fixed: ['type'] },
      async createRecord(zone, record) {
        const after = { ...record, ttl: next(record.ttl), readOnly: false };
        const more = { 'record-type': record.type, status: record.enabled ? undefined : 0 };
        const { data } = await write('add-record', zone, { ...toApi(after), ...more });
        return { ...after, remoteId: String(needed(data?.id, 'id')) };
      },
      async updateRecord(zone, before, record, changed) {
        const after = { ...before, ...record, ttl: changed.has('ttl') ? next(record.ttl) : record.ttl };
        const id = { 'record-id': before.remoteId };
        const toggle = () => write('change-record-status', zone, { ...id, status: record.enabled ? 1 : 0 });
        if (changed.size === 1 && changed.has('enabled')) await toggle();
        else await write('mod-record', zone, { ...toApi(after), ...id });
        if (changed.size > 1 && changed.has('enabled')) await toggle();
        return after;
      },
      deleteRecord: (zone, before) => write('delete-record', zone, { 'record-id': before.remoteId }),
      readRecord: inFound((zone, { type }) => records(zone, { type })),
      findRecords: (zone, { type }) => records(zone, { type }),
    }),
  };
};

function fromApi(row: Row, zone: string): RemoteRecord | null {
  const { id, host, type, ttl, status = 1, record, 'geodns-location': place, 'geodns-location-code': code } = row;
  // the root loses its dot (dnscontrol's recording of 2026), as all names do
  const fields = FIELDS.rdata(type, record === '' ? { ...row, record: '.' } : row);
  const value = fields ?? String(record ?? JSON.stringify(row));
  // of a GeoDNS zone: the id of the place, or its code where the answer has no id
  const told = String(Number(place) || code || row['geodns-code'] || 'default');
  const line = code === EVERYWHERE ? 'default' : told;
  const own = { line, enabled: Number(status) === 1 };
  return plainRecord({ id, host, type, value, ttl }, zone, own);
}

function toApi(record: DnsRecord): object {
  refuseText(record, 'ClouDNS', { never: NEVER });
  const { host, value, ttl, line } = record;
  // what is not sent may be taken away (ClouDNS's description of mod-record has both words)
  const place = line !== 'default' && { [/^\d+$/.test(line) ? 'geodns-location' : 'geodns-code']: line };
  return { host: host === '@' ? '' : host, ttl, ...(FIELDS.of(record) ?? { record: value }), ...place };
}
