import { fullName } from '../../dns/names.js';
import { type DnsRecord, fromRdata, type RemoteRecord } from '../../dns/record.js';
import { txtFromInput, txtPresentation } from '../../dns/text.js';
import { reading } from '../kit/http/deadline-context.js';
import { cutShort, errorHooks, ProviderError } from '../kit/http/errors.js';
import type { CallOptions, Method } from '../kit/http/http-client.js';
import { allPages, byId } from '../kit/http/pages.js';
import { fromList } from '../kit/records/from-records.js';
import { groupedBatch } from '../kit/records/grouped-batch.js';
import { changedPart, difference } from '../kit/records/record-verbs.js';
import { extraText, filled } from '../kit/rrsets/record-set.js';
import { typedFields } from '../kit/values/rdata-fields.js';
import { readEach } from '../kit/values/unreadable.js';
import { recordPath, zoneNamed, zoneOf } from '../kit/zone/zones.js';
import type { Change, Connect, RemoteZone } from '../provider.js';
import { tunnelsOf } from './tunnels.js';

/** `status`: initializing, pending, active, moved; `type`: full, partial, secondary, internal (OpenAPI). */
type ApiZone = { id: string; name: string; status?: string; type?: string };
type ApiError = { code: number; message: string; error_chain?: ApiError[] };
/** Every answer (recorded 2025). `result_info` only with lists. */
type Envelope<T> = { success: boolean; errors?: ApiError[]; result: T; result_info?: Record<string, number> };
// Full name without final dot, of IDN zones maybe in Unicode; `content` absent in some answers that have `data`; the
// TTL 1 is "automatic" (recorded 2025; OpenAPI).
type ApiRecord = { id: string; name: string; type: string; content?: string; priority?: number; ttl: number } & More;
type More = Partial<Record<'data' | 'meta', Record<string, unknown>>> & { proxied?: boolean; locked?: boolean } & Extra;
type Extra = { settings?: Record<string, unknown>; [own: string]: unknown };

// of Cloudflare's documentation
const KINDS = { auth: [6003, 9103, 9106, 9107, 9109, 10000, 10001], not_found: [1001, 7000, 7003, 81044] };
const FIELDS = typedFields();
/** of which fields those of the API follow; the others hold the value, or stay as they are */
const SOURCES = {
  type: ['type'],
  name: ['host'],
  ttl: ['ttl', 'proxied'],
  proxied: ['proxied'],
} as const;
/** Fields of a record that say where and what it is, or that Cloudflare alone writes (OpenAPI; recorded 2025). */
const KNOWN =
  /^(id|name|type|content|data|priority|ttl|proxied|proxiable|locked|meta|zone_(id|name)|\w*(created|modified)_on)$/;
const PROXIED = /^(A|AAAA|CNAME)$/;
const METHODS = { posts: 'POST', patches: 'PATCH', puts: 'PUT', deletes: 'DELETE' } as const;

export const connect: Connect = ({ api_token, email = '', api_key = '' }, context) => {
  const http = context.http.extend({
    headers: api_token ? { authorization: `Bearer ${api_token}` } : { 'x-auth-email': email, 'x-auth-key': api_key },
    ...errorHooks(errorsOf, KINDS),
  });
  async function ask<T>(method: Method, path: string, options?: CallOptions): Promise<Envelope<T>> {
    const body = await http.call<Envelope<T> | undefined>(method, path, options);
    if (body?.success === true && body.result !== undefined) return body;
    throw cutShort('result');
  }
  async function done(method: Method, path: string): Promise<void> {
    if ((await http.call<Partial<Envelope<unknown>> | undefined>(method, path))?.success !== true)
      throw cutShort('success');
  }
  const call = async <T>(...asked: Parameters<typeof ask>): Promise<T> => (await ask<T>(...asked)).result;
  const list = <T extends { id: string }>(path: string, per_page: number, query = {}): Promise<T[]> =>
    allPages(byId, async ({ page }) => {
      const { result, result_info: info } = await ask<T[]>('GET', path, { query: { ...query, page, per_page } });
      return { entries: result, total: info?.total_count ?? Number.NaN, count: info?.count };
    });
  const zones = async (query = {}): Promise<RemoteZone[]> =>
    (await list<ApiZone>('/zones', 50, query)).map(({ id, name, status = 'active', type }) =>
      zoneOf(name, id, { hidden: type === 'internal', idle: status !== 'active' }),
    );
  const records = async (zone: RemoteZone, query = {}): Promise<RemoteRecord[]> =>
    readEach(await list<ApiRecord>(pathOf(zone), 1000, query), zone.name, fromApi);
  const readRecord = async (zone: RemoteZone, { remoteId: id }: RemoteRecord) =>
    fromApi(await call('GET', pathOf(zone, id)), zone.name);
  // another type replaces the whole record: what else Cloudflare holds of it at this moment is sent with it
  const asHeld = async (zone: RemoteZone, change: Change): Promise<Change> => {
    if (change.op !== 'update' || change.before.type === change.after.type) return change;
    const held = await reading(() => readRecord(zone, change.before));
    if (!held) throw new ProviderError('not_found', 'There is no such record', false);
    return { ...change, after: { ...change.after, extra: held.extra ?? null } };
  };
  const write = async (zone: RemoteZone, change: Change) => {
    const [list, { id, ...json }] = listed(await asHeld(zone, change), zone.name);
    const made = await call<ApiRecord>(METHODS[list], pathOf(zone, id), { json, idempotent: list !== 'posts' });
    return (made.name && fromApi(made, zone.name)) || made.id;
  };

  return {
    // the token's own check would not work with a global key
    check: () => call('GET', '/zones', { query: { per_page: 5 } }),
    listZones: () => zones(),
    findZone: (name) => zoneNamed(name, zones({ name })),
    ...fromList(records, {
      createRecord: (zone, after) => write(zone, { op: 'create', after }),
      updateRecord: (zone, before, after) => write(zone, { op: 'update', before, after }),
      deleteRecord: (zone, before) => call('DELETE', pathOf(zone, before.remoteId)),
      // one transaction, each list in its order: deletes, patches, puts, posts (documented 2024)
      async batch(zone, changes) {
        const send = (json: object) => call<Record<string, ApiRecord[]>>('POST', `${pathOf(zone)}/batch`, { json });
        const read = (made: ApiRecord) => fromApi(made, zone.name);
        const held = await Promise.all(changes.map((change) => asHeld(zone, change)));
        return groupedBatch(held, (change) => listed(change, zone.name), send, read);
      },
      readRecord,
      findRecords: (zone, { type, host }) => records(zone, { type, name: fullName(host, zone.name) }),
      isDuplicate: ({ message }) => message.includes('(code 81058)'), // recorded 2025
    }),
    tunnels: tunnelsOf({ call, done, list }),
  };
};

const pathOf = recordPath('/zones', 'dns_records');

/** All errors of an answer with their causes, flat. */
function errorsOf(body: unknown): ApiError[] {
  const { success, errors } = (body ?? {}) as Partial<Envelope<unknown>>;
  return success !== true && Array.isArray(errors) ? errors.flatMap((e) => [e, ...(e.error_chain ?? [])]) : [];
}

/** rdata in presentation form of what the API answered. */
function rdata({ type, data, content = '', priority = 0 }: ApiRecord): string {
  if (type === 'TXT') return txtPresentation(txtFromInput(content));
  if (type === 'MX') return `${priority} ${content}`;
  // the `content` of SRV comes in several forms, that of CAA with and without quotes: `data` is exact
  return (/SRV|CAA|URI/.test(type) && FIELDS.rdata(type, { priority, ...data })) || content;
}

/** A record as the service has it, or null for what Cloudflare manages itself. The TTL 1 ("automatic") stays 1. */
function fromApi(record: ApiRecord, zone: string): RemoteRecord | null {
  const canonical = fromRdata(record.name, record.type, rdata(record), record.ttl, zone);
  const { locked, meta, id: remoteId, proxied = false } = record;
  const readOnly = [canonical?.readOnly, locked, meta?.read_only, meta?.email_routing].includes(true);
  return canonical && { ...canonical, remoteId, proxied, readOnly, ...extraOf(record) };
}

/** What else a record has at Cloudflare, known here or not, where there is any of it. */
function extraOf(record: ApiRecord): { extra?: string } {
  const settings = Object.entries(record.settings ?? {}).filter(([, value]) => (value ?? false) !== false);
  const own = Object.entries(record).filter(([name]) => !KNOWN.test(name));
  const extra = extraText(filled({ ...Object.fromEntries(own), settings: Object.fromEntries(settings) }));
  return extra === undefined ? {} : { extra };
}

/** The same as it is sent with a record of a type: one that no address follows from has no settings (OpenAPI). */
function withExtra({ type, extra }: DnsRecord): Extra {
  const { settings, ...own } = JSON.parse(extra ?? '{}') as Extra;
  const { flatten_cname: flat, ...families } = settings ?? {};
  const fit = {
    ...(PROXIED.test(type) && families),
    ...(type === 'CNAME' && flat !== undefined && { flatten_cname: flat }),
  };
  return { ...own, ...(Object.keys(fit).length && { settings: fit }) };
}

/** Which list of a batch a change belongs to, and what is sent of it. */
function listed(change: Change, zone: string): [list: keyof typeof METHODS, entry: { id?: string; type?: string }] {
  if (change.op === 'create') return ['posts', toApi(change.after, zone)];
  const id = change.before.remoteId;
  if (change.op === 'delete') return ['deletes', { id }];
  const changed = difference(change.before, change.after);
  // PATCH keeps what is not sent; another type needs PUT, or fields of the old one would stay
  if (changed.has('type')) return ['puts', { id, ...toApi(change.after, zone) }];
  return ['patches', { id, ...changedPart(toApi({ ...change.after, extra: null }, zone), changed, SOURCES) }];
}

/** The body that creates a record (OpenAPI). TXT is sent quoted and split, so that any text arrives as it is. */
function toApi(record: DnsRecord, zone: string) {
  const { type, proxied, value, priority } = record;
  const data = FIELDS.of(record);
  const { priority: first, ...others } = data ?? {};
  let content: object = data ? { data } : { content: type === 'TXT' ? txtPresentation(value) : value };
  if (type === 'MX') content = { content: value, priority };
  if (type === 'URI') content = { priority: first, data: others };
  const proxy = PROXIED.test(type) && { proxied };
  // "automatic" (OpenAPI); proxied records have no other
  return {
    type,
    name: fullName(record.host, zone),
    ttl: proxied ? 1 : record.ttl,
    ...proxy,
    ...content,
    ...withExtra(record),
  };
}
