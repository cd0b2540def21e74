import type { DnsRecord, RemoteRecord } from '../../dns/record.js';
import { cutShort, errorHooks, errorIn, needed } from '../kit/http/errors.js';
import { basicAuth, type CallOptions, type Method } from '../kit/http/http-client.js';
import { allPages, byId, counted } from '../kit/http/pages.js';
import { fromList } from '../kit/records/from-records.js';
import { orNoZone } from '../kit/records/in-place.js';
import { plainRecord } from '../kit/records/plain-record.js';
import { readEach } from '../kit/values/unreadable.js';
import { linesIn, zoneInfo, zoneOf } from '../kit/zone/zones.js';
import type { Connect, RemoteZone } from '../provider.js';

/** As the API has it (samples of lego 2023, dnsmgr): ids are texts, a host relative with `@`, texts raw. */
type Row = { id: string; host: string; type: number; data: string; ttl: number } & More;
type More = { preference?: number; lineId?: string; weight?: number; disable?: boolean };
type Answer<T> = { code?: number; msg?: string; data?: T };
type Domain = { id: string; domain: string };
type Line = { id: string; value: string; pid?: string };

const TYPES: Record<string, number> = { A: 1, NS: 2, CNAME: 5, MX: 15, TXT: 16, AAAA: 28, SRV: 33, URL: 256, CAA: 257 };
/** Failures have a status of 200 and another code; which ones there are is not documented. */
const KINDS = { auth: [401, 403], not_found: [404], rate_limit: [429] };

export const connect: Connect = ({ api_id, api_secret }, context) => {
  const errors = errorHooks(errorIn('code', 'msg', [200]), KINDS);
  const http = context.http.extend({ headers: basicAuth(api_id, api_secret), ...errors });
  const call = async <T>(method: Method, path: string, options: CallOptions): Promise<T> => {
    const answer = await http.call<Answer<T> | undefined>(method, `/api/${path}`, options);
    if (answer?.code !== 200) throw cutShort('code');
    return answer.data as T;
  };
  const list = <T extends { id: string }>(path: string, query = {}): Promise<T[]> =>
    allPages(byId, async ({ page: pageIndex }) => {
      const options = { query: { ...query, pageIndex, pageSize: 100 } };
      const page = await call<{ total?: number; results?: T[] } | null>('GET', path, options);
      // an id that came as a number may have lost digits
      if (page?.results?.some((one) => typeof one?.id === 'number')) throw cutShort('id');
      return counted(page?.results, page?.total);
    });
  const listZones = async (): Promise<RemoteZone[]> =>
    (await list<Domain>('domainList')).map(({ id, domain }) => zoneOf(domain, id));
  const records = async (zone: RemoteZone): Promise<RemoteRecord[]> => {
    const rows = await orNoZone(zone, () => list<Row>('recordList', { domainId: zone.id }), listZones);
    return readEach(rows, zone.name, fromApi, typeOf);
  };

  return {
    check: async () => void (await call('GET', 'domainList', { query: { pageIndex: 1, pageSize: 10 } })),
    listZones,
    async zoneInfo({ id, name }) {
      const all = await call<Line[]>('GET', 'availableLine', { query: { domain: name } });
      const { minTTL = null } = (await call<{ minTTL?: number } | null>('GET', 'dnsMeasures', { query: { id } })) ?? {};
      const lines = linesIn(all, ({ id: own, value, pid }) => ({ id: lineOf(own), name: value, parent: aboveOf(pid) }));
      return zoneInfo({ lines, minTtl: minTTL });
    },
    ...fromList(records, {
      fixed: ['type'],
      async createRecord({ id: domainId }, record) {
        const made = await call<{ id?: unknown } | null>('POST', 'record', { json: { domainId, ...toApi(record) } });
        return needed(typeof made?.id === 'string' && made.id, 'id');
      },
      updateRecord(_zone, { remoteId: id }, after, changed) {
        const json = { id, lineId: '', ...(changed.has('weight') && { weight: 0 }), ...toApi(after) };
        return call('PUT', 'record', { json }).then(() => id);
      },
      turn: (_zone, id, on) => call('PUT', 'recordDisable', { json: { id, disable: !on } }),
      deleteRecord: (_zone, { remoteId: id }) => call('DELETE', 'record', { query: { id } }),
      ...{ vague: true, whole: true },
    }),
  };
};

/** The default line has no id, or "0" (dnsmgr). */
const lineOf = (id: string | undefined): string => aboveOf(id) ?? 'default';

const aboveOf = (id: string | undefined) => (id && id !== '0' ? id : undefined);

const typeOf = ({ type: number }: Pick<Row, 'type'>): string =>
  Object.keys(TYPES).find((name) => TYPES[name] === number) ?? `TYPE${Number(number)}`;

function fromApi({ id, host, data: value, ttl, ...r }: Row, zone: string): RemoteRecord | null {
  const type = typeOf(r);
  const own = { line: lineOf(r.lineId), weight: r.weight || null, enabled: !r.disable };
  return plainRecord({ id, host, type, value, ttl, priority: r.preference ?? 0 }, zone, own);
}

function toApi({ host, type, value, ttl, priority, line, weight }: DnsRecord): object {
  const more = { ...(priority !== null && { preference: priority }), ...(line !== 'default' && { lineId: line }) };
  return { type: TYPES[type], host, data: value, ttl, ...more, ...(weight !== null && { weight }) };
}
