import { fullName, toAscii } from '../../dns/names.js';
import { type DnsRecord, fromRdata, type RemoteRecord } from '../../dns/record.js';
import { txtPresentation } from '../../dns/text.js';
import { cutShort } from '../errors.js';
import { typedFields } from '../fields.js';
import { allPages } from '../pages.js';
import { inParts } from '../parts.js';
import type { Connect, RemoteZone, ZoneInfo } from '../provider.js';
import { fromRecords, orGone } from '../records.js';
import { jdcloudClient } from '../signing/jdcloud2.js';

/** As the API has it (official operations; documentation of v2). */
type ApiRecord = { id: number; hostRecord: string; type: string; hostValue: string; ttl: number } & {
  viewValue?: number[] | null;
  weight?: number | null;
  resolvingStatus: string;
};
type ApiZone = { id: number; domainName: string; packId?: number; packName?: string };
type ApiLine = { value: number; label: string; disabled?: boolean; children?: ApiLine[] | null };
type Answer<T> = { result?: T } | undefined;
type List<T> = { dataList?: T[] | null; totalCount?: number };

const FIELDS = typedFields({ names: { priority: 'mxPriority', target: 'hostValue' } });
const NAMES = ['CNAME', 'NS', 'MX', 'SRV'];
const WEIGHTED = ['A', 'AAAA', 'CNAME'];
const DEFAULT_LINE = -1;
const lineOf = (view: number): string => (view === DEFAULT_LINE ? 'default' : String(view));

export const connect: Connect = ({ access_key_id: id = '', access_key_secret: secretAccessKey = '' }, context) => {
  const key = { accessKeyId: id, secretAccessKey, region: 'cn-north-1', service: 'domainservice' };
  const http = context.http.extend(jdcloudClient(key));
  const list = <T extends { id: number }>(path: string, query = {}): Promise<T[]> =>
    allPages(
      (entry) => entry.id,
      async ({ page: pageNumber }) => {
        const answer = await http.get<Answer<List<T>>>(path, { query: { pageNumber, pageSize: 99, ...query } });
        const { dataList, totalCount: total = Number.NaN } = answer?.result ?? {};
        return { entries: dataList ?? (total === 0 ? [] : undefined), total };
      },
    );
  const records = async (zone: RemoteZone, query = {}): Promise<RemoteRecord[]> =>
    (await list<ApiRecord>(pathOf(zone), query)).flatMap((record) => fromApi(record, zone.name) ?? []);
  const zones = async (query = {}): Promise<RemoteZone[]> =>
    (await list<ApiZone>('/domain', query)).map(({ id, domainName }) => ({
      id: String(id),
      name: toAscii(domainName),
    }));
  // whole: a search for parts of names that finds nothing proves nothing
  const look = async (zone: RemoteZone, { remoteId }: RemoteRecord) =>
    (await records(zone)).find((record) => record.remoteId === remoteId) ?? null;

  return {
    check: () => http.get('/domain', { query: { pageNumber: 1, pageSize: 10 } }),
    listZones: () => zones(),
    // finds parts of names, too
    findZone: async (domainName) => (await zones({ domainName })).find((zone) => zone.name === domainName) ?? null,
    listRecords: (zone) => records(zone),
    async zoneInfo(zone): Promise<ZoneInfo | null> {
      const found = (await list<ApiZone>('/domain', { domainId: zone.id })).find(({ id }) => String(id) === zone.id);
      const query = { packId: found?.packId ?? 0, viewId: 0 };
      const tree = await http.get<Answer<{ data?: ApiLine[] | null }>>(`/domain/${zone.id}/viewTree`, { query });
      const lines = linesIn(tree?.result?.data ?? []);
      return { lines, minTtl: null, expiresAt: null, plan: found?.packName ?? null };
    },
    apply: fromRecords({
      ...inParts({
        async create(zone, record) {
          const json = { req: toApi(record) };
          const made = (await http.post<Answer<{ dataList?: { id?: number } }>>(pathOf(zone), { json }))?.result;
          if (!made?.dataList?.id) throw cutShort('id of the record').applied(true);
          return String(made.dataList.id);
        },
        async update(zone, before, after) {
          const json = { req: { domainName: zone.name, ...toApi(after) } };
          const write = () => http.put(pathOf(zone, before.remoteId), { json });
          await orGone(write, () => look(zone, before));
          return before.remoteId;
        },
        turn: (zone, id, enabled) =>
          http.put(`${pathOf(zone, id)}/status`, { json: { action: enabled ? 'enable' : 'disable' } }),
      }),
      async deleteRecord(zone, before) {
        const write = () => http.delete(pathOf(zone, before.remoteId));
        await orGone(write, () => look(zone, before));
      },
      readRecord: look,
      findRecords: (zone, { host: search }) => records(zone, { search }),
      isDuplicate: (error) => !error.mayHaveApplied,
    }),
  };
};

const pathOf = (zone: RemoteZone, id?: string): string =>
  `/domain/${encodeURIComponent(zone.id)}/ResourceRecord${id ? `/${encodeURIComponent(id)}` : ''}`;

/** Lines with those below them. */
const linesIn = (lines: ApiLine[], parent?: string): ZoneInfo['lines'] =>
  lines.flatMap(({ value, label: name, disabled, children }) => {
    const line = { id: lineOf(value), name, ...(parent ? { parent } : {}) };
    return [...(disabled ? [] : [line]), ...linesIn(children ?? [], line.id)];
  });

function fromApi(record: ApiRecord, zone: string): RemoteRecord | null {
  const { id, hostRecord, type, ttl, viewValue, resolvingStatus } = record;
  const hostValue = NAMES.includes(type) ? record.hostValue.replace(/\.?$/, '.') : record.hostValue;
  const text = type === 'TXT' ? txtPresentation(hostValue) : hostValue;
  const split = type === 'MX' || type === 'SRV' ? FIELDS.rdata(type, { ...record, hostValue }) : null;
  const read = fromRdata(fullName(hostRecord, zone), type, split ?? text, ttl, zone);
  // 0 also stands where there is none
  const weight = WEIGHTED.includes(type) && record.weight ? record.weight : null;
  const more = { line: lineOf(viewValue?.at(-1) ?? DEFAULT_LINE), weight, enabled: resolvingStatus !== '4' };
  return read && { ...read, ...more, remoteId: String(id) };
}

function toApi(record: DnsRecord) {
  const { host: hostRecord, type, value: hostValue, ttl, line, weight } = record;
  const viewValue = line === 'default' ? DEFAULT_LINE : Number(line);
  const fields = type === 'MX' || type === 'SRV' ? FIELDS.of(record) : { hostValue, weight: weight ?? undefined };
  return { hostRecord, type, ttl, viewValue, ...fields };
}
