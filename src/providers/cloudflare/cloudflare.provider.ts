import { fullName, toAscii } from '../../dns/names.js';
import { type DnsRecord, fromRdata, type RemoteRecord } from '../../dns/record.js';
import { txtFromInput, txtPresentation } from '../../dns/text.js';
import { errorHooks, ProviderError } from '../errors.js';
import { typedFields } from '../fields.js';
import type { CallOptions, Method } from '../http.js';
import { allPages } from '../pages.js';
import type { Connect, RemoteZone } from '../provider.js';
import { changedPart, fromRecords } from '../records.js';

type ApiError = { code: number; message: string; error_chain?: ApiError[] };
/** Every answer (recorded 2025). `result_info` only with lists. */
type Envelope<T> = { success: boolean; errors?: ApiError[]; result: T; result_info?: ListInfo };
type ListInfo = { count: number; total_count: number };
/**
 * A record as the API answers it (recorded 2025; OpenAPI): full name without final dot, of IDN zones maybe in Unicode;
 * `content` absent in some answers that have `data`; TTL in seconds, 1 is "automatic".
 */
type ApiRecord = { id: string; name: string; type: string; content?: string; priority?: number; ttl: number } & {
  data?: Record<string, string | number>;
  proxied?: boolean;
  locked?: boolean;
  meta?: { read_only?: boolean; email_routing?: boolean };
};

// Codes (81058 recorded 2025, the others from Cloudflare's documentation).
const IDENTICAL_EXISTS = 81058;
const KINDS = { auth: [6003, 9103, 9106, 9107, 9109, 10000, 10001], not_found: [1001, 7000, 7003, 81044] };

const FIELDS = typedFields();
/** of which fields those of the API follow; the others hold the value */
const SOURCES = { type: ['type'], name: ['host'], ttl: ['ttl', 'proxied'], proxied: ['proxied'] } as const;

export const connect: Connect = (credentials, context) => {
  const http = context.http.extend({
    headers: credentials.api_token
      ? { authorization: `Bearer ${credentials.api_token}` }
      : { 'x-auth-email': credentials.email ?? '', 'x-auth-key': credentials.api_key ?? '' },
    ...errorHooks(errorsOf, KINDS),
  });
  async function call<T>(method: Method, path: string, options?: CallOptions): Promise<Envelope<T>> {
    const body = await http.call<Envelope<T> | undefined>(method, path, options);
    if (body?.success === true && body.result !== undefined) return body;
    throw new ProviderError('unavailable', 'The answer of Cloudflare is cut short');
  }
  const list = <T extends { id: string }>(path: string, size: number, query = {}): Promise<T[]> =>
    allPages(getId, async ({ page }) => {
      const options = { query: { ...query, page, per_page: size } };
      const { result, result_info: info } = await call<T[]>('GET', path, options);
      return { entries: result, total: info?.total_count ?? Number.NaN, count: info?.count };
    });
  const zones = async (query = {}): Promise<RemoteZone[]> =>
    (await list<RemoteZone>('/zones', 50, query)).map(({ id, name }) => ({ id, name: toAscii(name) }));
  const records = async (zone: RemoteZone, query = {}): Promise<RemoteRecord[]> =>
    (await list<ApiRecord>(pathOf(zone), 1000, query)).flatMap((r) => fromApi(r, zone.name) ?? []);

  return {
    // the token's own check would not work with a global key
    check: async () => void (await call('GET', '/zones', { query: { per_page: 5 } })),
    listZones: () => zones(),
    findZone: async (name) => (await zones({ name })).find((zone) => zone.name === name) ?? null,
    listRecords: (zone) => records(zone),
    apply: fromRecords({
      createRecord: async (zone, record) =>
        (await call<ApiRecord>('POST', pathOf(zone), { json: toApi(record, zone.name) })).result.id,
      // PATCH keeps comment, tags and what is not sent; another type needs PUT, or fields of the old one would stay
      async updateRecord(zone, before, after, changed) {
        const whole = toApi(after, zone.name);
        const method = changed.has('type') ? 'PUT' : 'PATCH';
        const json = method === 'PUT' ? whole : changedPart(whole, changed, SOURCES);
        const { result } = await call<ApiRecord>(method, pathOf(zone, before), { json, idempotent: true });
        return (result.name && fromApi(result, zone.name)) || result.id;
      },
      deleteRecord: (zone, before) => call('DELETE', pathOf(zone, before)),
      readRecord: async (zone, before) =>
        fromApi((await call<ApiRecord>('GET', pathOf(zone, before))).result, zone.name),
      findRecords: (zone, { type, host }) => records(zone, { type, name: fullName(host, zone.name) }),
      isDuplicate: (error) => error.message.includes(`(code ${IDENTICAL_EXISTS})`),
    }),
  };
};

const getId = ({ id }: { id: string }): string => id;
const pathOf = (zone: RemoteZone, record?: RemoteRecord): string =>
  `/zones/${encodeURIComponent(zone.id)}/dns_records${record ? `/${encodeURIComponent(record.remoteId)}` : ''}`;

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
  if (!canonical) return null;
  const { locked, meta, id: remoteId, proxied = false } = record;
  const readOnly = [canonical.readOnly, locked, meta?.read_only, meta?.email_routing].includes(true);
  return { ...canonical, remoteId, proxied, readOnly };
}

/** The body that creates a record (OpenAPI). TXT is sent quoted and split, so that any text arrives as it is. */
function toApi(record: DnsRecord, zone: string) {
  const { type, proxied } = record;
  const proxy = /^(A|AAAA|CNAME)$/.test(type) ? { proxied } : {};
  // "automatic" (OpenAPI); proxied records have no other
  return { type, name: fullName(record.host, zone), ttl: proxied ? 1 : record.ttl, ...proxy, ...contentOf(record) };
}

function contentOf(record: DnsRecord): object {
  const { type, value, priority } = record;
  if (type === 'TXT') return { content: txtPresentation(value) };
  if (type === 'MX') return { content: value, priority };
  const data = FIELDS.of(record);
  if (type !== 'URI') return data ? { data } : { content: value };
  return { priority: data?.priority, data: { weight: data?.weight, target: data?.target } };
}
