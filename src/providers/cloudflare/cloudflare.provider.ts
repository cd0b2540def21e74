import { toAscii } from '../../dns/names.js';
import { type RemoteRecord, sameRecord } from '../../dns/record.js';
import { eachRecord } from '../each-record.js';
import { ProviderError, type ProviderErrorKind } from '../errors.js';
import type { CallOptions, Method } from '../http.js';
import { type DnsProvider, defineProvider, type RecordVerbs, type RemoteZone, secret, text } from '../provider.js';
import { type ApiRecord, fromApi, TYPES, toApi } from './mapping.js';

/** Every answer (recorded 2025). `result_info` only with lists. */
interface Envelope<T> {
  success: boolean;
  errors?: { code: number; message: string; error_chain?: { code: number; message: string }[] }[];
  result: T;
  result_info?: { page: number; per_page: number; count: number; total_count: number };
}

// Codes (81058 recorded 2025, the others from Cloudflare's documentation).
const AUTH = [6003, 9103, 9106, 9107, 9109, 10000, 10001];
const NOT_FOUND = [1001, 7000, 7003, 81044];
const IDENTICAL_EXISTS = 81058;

const ZONES_PER_PAGE = 50;
const RECORDS_PER_PAGE = 1000;

/**
 * Cloudflare API v4: records with ids, proxied or not. TTL 1 means "automatic" and is shown and taken as 1; proxied
 * records always have it. Cloudflare itself refuses 2 to 59 (Enterprise zones: 2 to 29).
 */
export const cloudflare = defineProvider({
  kind: 'cloudflare',
  label: 'Cloudflare',
  docs: 'https://developers.cloudflare.com/api/',
  credentials: [
    [secret('api_token', 'API token', { help: 'With the permissions Zone:Read and DNS:Edit.' })],
    [text('email', 'E-mail'), secret('api_key', 'Global API key')],
  ],
  capabilities: { types: TYPES, apexCname: true, proxy: true, minTtl: 60, maxTtl: 86400, automaticTtl: 1 },
  // 1200 requests in 5 minutes per user; other clients of the same user get a share
  limits: { requests: 1000, perSeconds: 300 },
  connect(credentials, context): DnsProvider {
    const http = context.http.extend({
      baseUrl: (credentials.endpoint || 'https://api.cloudflare.com/client/v4').replace(/\/+$/, ''),
      headers: credentials.api_token
        ? { authorization: `Bearer ${credentials.api_token}` }
        : { 'x-auth-email': credentials.email ?? '', 'x-auth-key': credentials.api_key ?? '' },
      errorMessage: words,
      errorKind: (_status, body) => kind(body),
    });

    async function call<T>(method: Method, path: string, options?: CallOptions): Promise<Envelope<T>> {
      const body = await http.call<Envelope<T> | undefined>(method, path, options);
      if (body?.success === true && body.result !== undefined) return body;
      const why = words(body);
      if (!why) throw cut();
      throw new ProviderError(kind(body) ?? 'rejected', context.redact(why));
    }

    /**
     * All pages of a list.
     * @throws ProviderError `unavailable` when a page is missing or the list is shorter than announced
     */
    async function list<T extends { id: string }>(path: string, perPage: number, query = {}): Promise<T[]> {
      // by id: when something is added meanwhile, the next page repeats an entry
      const all = new Map<string, T>();
      for (let page = 1; ; page++) {
        const options = { query: { ...query, page, per_page: perPage } };
        const { result, result_info: info } = await call<T[]>('GET', path, options);
        if (!Array.isArray(result) || typeof info?.total_count !== 'number' || info.count !== result.length)
          throw cut();
        for (const entry of result) all.set(entry.id, entry);
        if (all.size >= info.total_count) return [...all.values()];
        if (result.length === 0) throw cut();
      }
    }

    async function records(zone: RemoteZone, query?: object): Promise<RemoteRecord[]> {
      const found = await list<ApiRecord>(recordsPath(zone), RECORDS_PER_PAGE, query);
      return found.map((r) => fromApi(r, zone.name)).filter((r) => r !== null);
    }

    const verbs: RecordVerbs = {
      async createRecord(zone, record) {
        const json = toApi(record, zone.name);
        try {
          return (await call<ApiRecord>('POST', recordsPath(zone), { json })).result.id;
        } catch (error) {
          if (!(error instanceof ProviderError) || !error.message.includes(code(IDENTICAL_EXISTS))) throw error;
          const { type, name } = json as { type: string; name: string };
          const twin = (await records(zone, { type, name })).find((r) => sameRecord(r, record));
          if (!twin) throw error;
          const same = twin.proxied === record.proxied && (record.proxied || twin.ttl === record.ttl);
          return same ? twin.remoteId : verbs.updateRecord(zone, twin, record);
        }
      },

      // PATCH keeps comment and tags; a record that changes its type is replaced, or fields of the old type would stay
      async updateRecord(zone, before, after) {
        const method = before.type === after.type ? 'PATCH' : 'PUT';
        const options = { json: toApi(after, zone.name), idempotent: true };
        return (await call<ApiRecord>(method, recordPath(zone, before), options)).result.id;
      },

      async deleteRecord(zone, before) {
        try {
          await call('DELETE', recordPath(zone, before));
        } catch (error) {
          if (!(error instanceof ProviderError) || error.kind !== 'not_found') throw error;
        }
      },
    };

    return {
      // the token's own check would not work with a global key
      async check() {
        await call('GET', '/zones', { query: { per_page: 5 } });
      },
      async listZones() {
        const zones = await list<RemoteZone>('/zones', ZONES_PER_PAGE);
        return zones.map(({ id, name }) => ({ id, name: toAscii(name) }));
      },
      listRecords: (zone) => records(zone),
      apply: eachRecord(verbs),
    };
  },
});

const recordsPath = (zone: RemoteZone): string => `/zones/${encodeURIComponent(zone.id)}/dns_records`;
const recordPath = (zone: RemoteZone, record: RemoteRecord): string =>
  `${recordsPath(zone)}/${encodeURIComponent(record.remoteId)}`;
const cut = () => new ProviderError('unavailable', 'The answer of Cloudflare is cut short');
const code = (number: number): string => `(code ${number})`;

/** All errors of an answer with their causes, flat. */
function errorsOf(body: unknown): { code: number; message: string }[] {
  const list = (body as Envelope<unknown> | null | undefined)?.errors;
  return Array.isArray(list) ? list.flatMap((e) => [e, ...(e.error_chain ?? [])]) : [];
}

const words = (body: unknown): string | undefined =>
  errorsOf(body)
    .map((e) => `${e.message} ${code(e.code)}`)
    .join('; ') || undefined;

function kind(body: unknown): ProviderErrorKind | undefined {
  const codes = errorsOf(body).map((e) => e.code);
  if (codes.some((c) => AUTH.includes(c))) return 'auth';
  return codes.some((c) => NOT_FOUND.includes(c)) ? 'not_found' : undefined;
}
