import { absolute, fullName, toAscii } from '../../dns/names.js';
import { type DnsRecord, fromRdata, type RemoteRecord, rdataOf, sameRecord } from '../../dns/record.js';
import { txtPresentation } from '../../dns/text.js';
import { cutShort } from '../kit/http/errors.js';
import { allPages } from '../kit/http/pages.js';
import { fromList } from '../kit/records/from-records.js';
import { readEach } from '../kit/values/unreadable.js';
import type { Change, Connect, RemoteZone } from '../provider.js';

/**
 * As the API answers (recorded 2025): the name relative, empty at the apex; rdata as in zone files, that of MX with its
 * priority before it; TXT quoted, whatever was sent.
 */
type ApiRecord = { id: string; name: string; type: string; data: string; ttl: number; priority?: number } & {
  [dynamic in 'geo_ip_config' | 'http_service_config' | 'weighted_config' | 'view_config']?: object | null;
} & { comment?: string | null };
type Failure = { message?: string; details?: { argument_name?: string; help_message?: string; reason?: string }[] };
type ApiZone = { domain: string; subdomain: string; status?: string };
type List = { total_count?: number; records?: ApiRecord[]; dns_zones?: ApiZone[] };

export const connect: Connect = ({ secret_key = '' }, context) => {
  const http = context.http.extend({
    headers: { 'x-auth-token': secret_key },
    errorMessage: wordsOf,
    // a zone that is not in the account: HTTP 403 "domain not found" (recorded 2025)
    errorKind: (status, body) => (status === 403 && /not found/i.test(wordsOf(body) ?? '') ? 'not_found' : undefined),
  });
  const list = <T>(path: string, key: 'records' | 'dns_zones', idOf: (entry: T) => string, query = {}): Promise<T[]> =>
    allPages(idOf, async ({ page }) => {
      const answer = await http.get<List | undefined>(path, { query: { ...query, page, page_size: 100 } });
      return { entries: answer?.[key] as T[] | undefined, total: answer?.total_count ?? Number.NaN };
    });
  const records = async (zone: RemoteZone, query = {}): Promise<RemoteRecord[]> =>
    readEach(await list<ApiRecord>(pathOf(zone), 'records', ({ id }) => id, query), zone.name, fromApi);
  const zones = async (query = {}): Promise<RemoteZone[]> =>
    (await list<ApiZone>('/dns-zones', 'dns_zones', nameOf, query)).map((zone) => {
      const name = nameOf(zone);
      return { id: name, name: toAscii(name) };
    });

  /** One version of the zone holds all of the changes, or there is none. */
  async function send(zone: RemoteZone, changes: readonly Change[]): Promise<ApiRecord[]> {
    const json = { changes: changes.map(toApi), return_all_records: false, disallow_new_zone_creation: true };
    const answer = await http.patch<List | undefined>(pathOf(zone), { json });
    if (!Array.isArray(answer?.records)) throw cutShort('records').applied(true);
    return answer.records;
  }
  /** What became of each: an answer is not said to be in order, and may leave out what was there already. */
  async function write(zone: RemoteZone, changes: readonly Change[]): Promise<(RemoteRecord | null)[]> {
    const left = await readEach(await send(zone, changes), zone.name, fromApi);
    return Promise.all(
      changes.map(async (change) => {
        if (change.op === 'delete') return null;
        const { op, after } = change;
        const own = left.findIndex((r) => op === 'update' && r.remoteId === change.before.remoteId);
        const at = own < 0 ? left.findIndex((r) => sameRecord(r, after)) : own;
        const found = left.splice(at, at < 0 ? 0 : 1)[0] ?? (await find(zone, after)).find((r) => sameRecord(r, after));
        if (!found) throw cutShort('record that was written').applied(true);
        return found;
      }),
    );
  }
  const one = async (zone: RemoteZone, change: Change) => (await write(zone, [change]))[0] ?? '';
  const find = (zone: RemoteZone, { host, type }: DnsRecord) => records(zone, { name: nameIn(host), type });

  return {
    check: () => http.get('/dns-zones', { query: { page_size: 1 } }),
    listZones: () => zones(),
    findZone: async (name) => (await zones({ dns_zone: name })).find((zone) => zone.name === name) ?? null,
    ...fromList(records, {
      createRecord: (zone, after) => one(zone, { op: 'create', after }),
      updateRecord: (zone, before, after) => one(zone, { op: 'update', before, after }),
      deleteRecord: (zone, before) => send(zone, [{ op: 'delete', before }]),
      ...{ batch: write, whole: true },
      readRecord: async (zone, { remoteId: id }) =>
        (await records(zone, { id })).find((r) => r.remoteId === id) ?? null,
      findRecords: find,
    }),
  };
};

const nameOf = ({ domain, subdomain }: ApiZone): string =>
  (subdomain ? `${subdomain}.${domain}` : domain).toLowerCase();
const nameIn = (host: string): string => (host === '@' ? '' : host);
const pathOf = (zone: RemoteZone): string => `/dns-zones/${encodeURIComponent(zone.id)}/records`;

function wordsOf(body: unknown): string | undefined {
  const { message, details } = (body ?? {}) as Failure;
  const all = [details ?? []]
    .flat()
    .map((d) => [d.argument_name, d.help_message || d.reason].filter(Boolean).join(' '));
  return message && [message, ...all].join('; ');
}

function rdata({ type, data, priority = 0 }: ApiRecord): string {
  if (type === 'TXT') return data.startsWith('"') ? data : txtPresentation(data);
  if (type === 'MX') return /^\d+ /.test(data) ? data : `${priority} ${data}`;
  // a weight of 0 may be left out (seen by Scaleway's own Terraform provider)
  return type === 'SRV' ? data.replace(/^(\d+) (\d+ [^ ]+)$/, '$1 0 $2') : data;
}

function fromApi(record: ApiRecord, zone: string): RemoteRecord | null {
  const { id: remoteId, name, type, data, ttl, comment } = record;
  const read = fromRdata(fullName(name || '@', zone), type, rdata(record), ttl, zone);
  const kinds = ['geo_ip_config', 'http_service_config', 'weighted_config', 'view_config'] as const;
  const dynamic = kinds.find((kind) => record[kind]);
  const fixed = dynamic && {
    value: `${data} by ${dynamic} ${JSON.stringify(record[dynamic])}`,
    priority: null,
    readOnly: true,
  };
  return read && { ...read, remoteId, remark: comment ?? '', ...fixed };
}

/** What is not named of a record that exists is repeated: the new one takes its place (recorded 2025). */
function toApi(change: Change): object {
  if (change.op === 'delete') return { delete: { id: change.before.remoteId } };
  const { host, type, ttl, value, priority, remark } = change.after;
  const data = type === 'MX' ? { data: absolute(value), priority } : { data: rdataOf(change.after) };
  const comment = remark ?? (change.op === 'update' ? change.before.remark : undefined);
  const records = [{ name: nameIn(host), type, ttl, ...data, ...(comment === undefined ? {} : { comment }) }];
  return change.op === 'create' ? { add: { records } } : { set: { id: change.before.remoteId, records } };
}
