import { fullName } from '../../dns/names.js';
import { type DnsRecord, fromRdata, type RemoteRecord } from '../../dns/record.js';
import { txtFromInput, txtPresentation } from '../../dns/text.js';
import { cutShort, errorHooks, needed, type VendorError } from '../kit/http/errors.js';
import { allPages, byId } from '../kit/http/pages.js';
import { fromList } from '../kit/records/from-records.js';
import { readEach } from '../kit/values/unreadable.js';
import { recordPath, zoneInfo, zoneOf } from '../kit/zone/zones.js';
import type { Connect, RemoteZone } from '../provider.js';

/** As version 2 has it (lego, Ansible 2026): names relative, `.` at the apex; preferences in the target; TXT quoted. */
type ApiRecord = { id: number; source: string; type: string; target: string; ttl: number };
type Product = { id: number; customer_name: string; expired_at?: number | null };
type Envelope<T> = { result: string; data?: T; total?: number };
type Failure = { code?: string; description?: string; errors?: Failure[] };
const KINDS = { not_found: ['object_not_found'], auth: ['not_authorized', 'access_denied', 'unauthorized'] };
const PAGE = 100;

export const connect: Connect = ({ api_token }, context) => {
  const headers = { authorization: `Bearer ${api_token}` };
  const http = context.http.extend({ headers, ...errorHooks(errorsOf, KINDS) });
  const list = <T extends { id: number }>(path: string, filter: object): Promise<T[]> => {
    const read = async ({ page }: { page: number }) => {
      const query = { ...filter, page, per_page: PAGE };
      const { data: entries, total } = (await http.get<Envelope<T[]> | undefined>(path, { query })) ?? {};
      return total === undefined ? { entries } : { entries, total };
    };
    return allPages(byId, read, PAGE);
  };
  // version 2 has no list of zones
  const products = (query = {}): Promise<Product[]> => list('/1/product', { service_name: 'domain', ...query });
  const records = async (zone: RemoteZone, query = {}): Promise<RemoteRecord[]> =>
    readEach(await list<ApiRecord>(pathOf(zone), query), zone.name, fromApi);

  return {
    check: async () => void (await http.get('/1/product', { query: { service_name: 'domain', per_page: 1 } })),
    listZones: async () => (await products()).map(({ customer_name: name }) => zoneOf(name)),
    async zoneInfo(zone) {
      const own = (await products({ customer_name: zone.id })).find(({ customer_name: name }) => name === zone.id);
      const expiresAt = own?.expired_at ? new Date(own.expired_at * 1000).toISOString() : null;
      return zoneInfo({ expiresAt });
    },
    ...fromList(records, {
      ...{ doubles: true, whole: true, fixed: ['host', 'type'] },
      async createRecord(zone, record) {
        const json = { type: record.type, source: sourceOf(record), ...toApi(record) };
        return written(await http.post(pathOf(zone), { json }), zone);
      },
      updateRecord: async (zone, before, after) =>
        written(await http.put(pathOf(zone, before), { json: toApi(after) }), zone),
      deleteRecord: (zone, before) => http.delete(pathOf(zone, before)),
      readRecord: async (zone, before) => written(await http.get(pathOf(zone, before)), zone),
      findRecords: (zone, record) =>
        records(zone, { 'filter[source]': sourceOf(record), 'filter[types][]': record.type }),
    }),
  };
};

const pathOf = recordPath('/2/zones', 'records');
const toApi = (record: DnsRecord) => ({ ttl: record.ttl, target: targetOf(record) });
const sourceOf = ({ host }: DnsRecord): string => (host === '@' ? '.' : host);

/** Errors come with a status of success, too (lego). */
function errorsOf(body: unknown): VendorError[] {
  const { result, error } = (body ?? {}) as { result?: string; error?: Failure };
  const all = result === 'error' ? [error ?? {}, ...(error?.errors ?? [])] : [];
  return all.map(({ code = '', description: message = '' }) => ({ code, message }));
}

const written = (answer: Envelope<ApiRecord> | undefined, { name }: RemoteZone): RemoteRecord =>
  needed(answer?.data && fromApi(answer.data, name), 'complete record');

function fromApi({ id, source, type, target, ttl }: ApiRecord, zone: string): RemoteRecord | null {
  if (!Number.isSafeInteger(id) || typeof target !== 'string') throw cutShort('complete record');
  const rdata = type === 'TXT' ? txtPresentation(txtFromInput(target)) : target;
  const read = fromRdata(fullName(/^\.?$/.test(source) ? '@' : source, zone), type, rdata, ttl, zone);
  return read && { ...read, remoteId: String(id) };
}

/** Texts are quoted, with their characters as they are, in strings of 255 bytes at most (Ansible). */
function targetOf({ type, value, priority }: DnsRecord): string {
  if (type !== 'TXT') return priority === null ? value : `${priority} ${value}`;
  const most = Buffer.byteLength(value) === value.length ? 255 : 63;
  const strings = value.match(new RegExp(`[\\s\\S]{1,${most}}`, 'gu')) ?? [''];
  return strings.map((text) => `"${text.replace(/["\\]/g, '\\$&')}"`).join(' ');
}
