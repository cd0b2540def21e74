import { fullName, toAscii } from '../../dns/names.js';
import { type DnsRecord, fromRdata, type RemoteRecord } from '../../dns/record.js';
import { txtPresentation } from '../../dns/text.js';
import { cutShort, errorHooks, type VendorError } from '../errors.js';
import type { CallOptions, Method } from '../http.js';
import { allPages } from '../pages.js';
import type { Connect, RemoteZone } from '../provider.js';
import { fromRecords, inPlace, orGone, type RecordVerbs } from '../records.js';
import { following } from '../work.js';

/** As the API has it (samples of lego 2023, dnsmgr): ids are texts, a host relative with `@`, texts raw. */
type Row = { id: string; host: string; type: number; data: string; ttl: number; lineId?: string } & {
  preference?: number;
  weight?: number;
  disable?: boolean;
};
type Answer<T> = { code?: number; msg?: string; data?: T };
type Domain = { id: string; domain: string };
type Line = { id: string; value: string; pid?: string };

const TYPES: Record<string, number> = { A: 1, NS: 2, CNAME: 5, MX: 15, TXT: 16, AAAA: 28, SRV: 33, URL: 256, CAA: 257 };

/** Failures have a status of 200 and another code; which ones there are is not documented. */
const errorsOf = (body: unknown): VendorError[] => {
  const { code = 200, msg = '' } = (body ?? {}) as Answer<unknown>;
  return code === 200 ? [] : [{ code, message: msg }];
};

export const connect: Connect = ({ api_id, api_secret }, context) => {
  const basic = Buffer.from(`${api_id}:${api_secret}`).toString('base64');
  const http = context.http.extend({
    headers: { authorization: `Basic ${basic}` },
    ...errorHooks(errorsOf, { auth: [401, 403], not_found: [404], rate_limit: [429] }),
  });
  const call = async <T>(method: Method, path: string, options: CallOptions): Promise<T> => {
    const answer = await http.call<Answer<T> | undefined>(method, `/api/${path}`, options);
    if (answer?.code !== 200) throw cutShort('code');
    return answer.data as T;
  };
  const list = <T extends { id: string }>(path: string, query = {}): Promise<T[]> =>
    allPages(
      ({ id }) => id,
      async ({ page: pageIndex }) => {
        const options = { query: { ...query, pageIndex, pageSize: 100 } };
        const { total = Number.NaN, results } =
          (await call<{ total?: number; results?: T[] } | null>('GET', path, options)) ?? {};
        // an id that came as a number may have lost digits
        if (results?.some(({ id }) => !id || typeof id !== 'string')) throw cutShort('id');
        return { entries: results ?? (total === 0 ? [] : undefined), total };
      },
    );
  const listZones = async (): Promise<RemoteZone[]> =>
    (await list<Domain>('domainList')).map(({ id, domain }) => ({ id, name: toAscii(domain.replace(/\.$/, '')) }));
  const records = async (zone: RemoteZone): Promise<RemoteRecord[]> => {
    const rows = await orGone(
      () => list<Row>('recordList', { domainId: zone.id }),
      async () => (await listZones()).some(({ id }) => id === zone.id),
    );
    return rows.flatMap((row) => fromApi(row, zone.name) ?? []);
  };
  const find = async (zone: RemoteZone, { remoteId }: RemoteRecord): Promise<RemoteRecord | null> =>
    (await records(zone)).find((record) => record.remoteId === remoteId) ?? null;
  const disable = (id: string, off: boolean) => call('PUT', 'recordDisable', { json: { id, disable: off } });

  const verbs: RecordVerbs = {
    async createRecord(zone, record) {
      const { id } =
        (await call<{ id?: string } | null>('POST', 'record', { json: { domainId: zone.id, ...toApi(record) } })) ?? {};
      if (typeof id !== 'string' || !id) throw cutShort('id');
      if (!record.enabled) await following(() => disable(id, true));
      return id;
    },
    async updateRecord(zone, before, after, changed) {
      if (changed.has('type')) return inPlace(verbs, zone, before, after);
      const id = before.remoteId;
      const json = { id, lineId: '', ...(changed.has('weight') && { weight: 0 }), ...toApi(after) };
      const toggle = () => disable(id, !after.enabled);
      const write = async () => {
        if (changed.size === 1 && changed.has('enabled')) return toggle();
        await call('PUT', 'record', { json });
        return changed.has('enabled') ? following(toggle) : null;
      };
      await orGone(write, () => find(zone, before));
      return id;
    },
    deleteRecord: (zone, before) =>
      orGone(
        () => call('DELETE', 'record', { query: { id: before.remoteId } }),
        () => find(zone, before),
      ),
    readRecord: find,
    findRecords: records,
  };
  return {
    check: async () => void (await call('GET', 'domainList', { query: { pageIndex: 1, pageSize: 10 } })),
    listZones,
    listRecords: records,
    async zoneInfo({ id, name }) {
      const lines = await call<Line[]>('GET', 'availableLine', { query: { domain: name } });
      const { minTTL = null } = (await call<{ minTTL?: number } | null>('GET', 'dnsMeasures', { query: { id } })) ?? {};
      const own = lines.map((line) => ({
        id: lineOf(line.id),
        name: line.value,
        ...(line.pid && line.pid !== '0' && { parent: line.pid }),
      }));
      return { lines: own, minTtl: minTTL, expiresAt: null, plan: null };
    },
    apply: fromRecords(verbs),
  };
};

/** The default line has no id, or "0" (dnsmgr). */
const lineOf = (id: string | undefined): string => (id && id !== '0' ? id : 'default');

function fromApi(row: Row, zone: string): RemoteRecord | null {
  const type = Object.keys(TYPES).find((name) => TYPES[name] === row.type) ?? `TYPE${row.type}`;
  const rdata =
    type === 'TXT' ? txtPresentation(row.data) : type === 'MX' ? `${row.preference ?? 0} ${row.data}` : row.data;
  const read = fromRdata(fullName(row.host || '@', zone), type, rdata, row.ttl, zone);
  const own = { line: lineOf(row.lineId), weight: row.weight || null, enabled: !row.disable };
  return read && { ...read, remoteId: row.id, ...own };
}

function toApi({ host, type, value, ttl, priority, line, weight }: DnsRecord): object {
  const more = { ...(priority !== null && { preference: priority }), ...(line !== 'default' && { lineId: line }) };
  return { type: TYPES[type], host, data: value, ttl, ...more, ...(weight !== null && { weight }) };
}
