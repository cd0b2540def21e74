import type { DnsRecord, RemoteRecord } from '../../dns/record.js';
import { cutShort, errorHooks, needed } from '../kit/http/errors.js';
import { allPages } from '../kit/http/pages.js';
import { fromRecords } from '../kit/records/from-records.js';
import { plainRecord } from '../kit/records/plain-record.js';
import { typedFields } from '../kit/values/rdata-fields.js';
import { refuseText } from '../kit/values/value-limits.js';
import { zoneOf } from '../kit/zone/zones.js';
import type { Connect, RemoteZone } from '../provider.js';

/** As answered (recorded 2018): `host` relative, empty at the apex; names without final dot, texts raw. */
type Row = { id: string; type: string; host: string; ttl: string } & Partial<Record<string, string | number>>;
type Said = { status?: string; statusDescription?: string; data?: { id: number } };

const FIELDS = typedFields({ names: { target: 'record', flags: 'caa_flag', tag: 'caa_type', value: 'caa_value' } });
const TTLS = [60, 300, 900, 1800, 3600, 21600, 43200, 86400, 172800, 259200, 604800, 1209600, 2592000];
/** The TTL in its place: it has no others, and not even the usual 600. */
const next = (ttl: number): number => TTLS.find((one) => one >= ttl) ?? 2592000;
// what it refuses or drops (dnscontrol 2021); of the backslash it is not known
const NEVER = [[/["`\\]|\s$|^$/, 'a quote, a backtick, a backslash, a blank at its end, or nothing']] as const;

/** Failures have a status of 200, and words without a code (one recorded 2018, "record-id" in tests of lego). */
const errorOf = (body: unknown) => {
  const { status, statusDescription: message = 'It failed' } = (body ?? {}) as Said;
  return status === 'Failed' && { message };
};
const AUTH = /^Invalid authentication|access to the HTTP API/i;
const KINDS = { auth: [AUTH], not_found: [/^Missing domain-name|^Invalid record-id/i] };

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
    if (Array.isArray(found) !== (rows.length === 0) || rows.some((r) => !r.id || !r.type)) throw cutShort('list');
    return rows.flatMap((row) => fromApi(row, zone.name) ?? []);
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
    listRecords: (zone) => records(zone),
    apply: fromRecords({
      judge: toApi,
      fixed: ['type'],
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
      readRecord: async (zone, { type, remoteId: id }) =>
        (await records(zone, { type })).find((r) => r.remoteId === id) ?? null,
      findRecords: (zone, { type }) => records(zone, { type }),
    }),
  };
};

function fromApi(row: Row, zone: string): RemoteRecord | null {
  const { id, host, type, ttl, status = 1, record, 'geodns-location': place, 'geodns-code': code } = row;
  // the root loses its dot (dnscontrol's recording of 2026), as all names do
  const fields = FIELDS.rdata(type, record === '' ? { ...row, record: '.' } : row);
  const value = fields ?? String(record ?? JSON.stringify(row));
  // of a GeoDNS zone: how places go back is not known
  const line = String(code || Number(place) || 'default');
  const own = { line, readOnly: line !== 'default', enabled: Number(status) === 1 };
  return plainRecord({ id, host, type, value, ttl }, zone, own);
}

function toApi(record: DnsRecord): object {
  refuseText(record, 'ClouDNS', { never: NEVER });
  const { host, value, ttl } = record;
  return { host: host === '@' ? '' : host, ttl, ...(FIELDS.of(record) ?? { record: value }) };
}
