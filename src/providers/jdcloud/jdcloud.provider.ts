import type { DnsRecord, RemoteRecord } from '../../dns/record.js';
import { needed } from '../kit/http/errors.js';
import { allPages, byId, counted } from '../kit/http/pages.js';
import { fromList } from '../kit/records/from-records.js';
import { plainRecord } from '../kit/records/plain-record.js';
import { jdcloudClient } from '../kit/signing/jdcloud2.js';
import { typedFields } from '../kit/values/rdata-fields.js';
import { readEach } from '../kit/values/unreadable.js';
import { linesIn, recordPath, zoneInfo, zoneNamed, zoneOf } from '../kit/zone/zones.js';
import type { Connect, RemoteZone } from '../provider.js';

/** As the API has it (official operations; documentation of v2). */
type ApiRecord = { id: number; hostRecord: string; type: string; hostValue: string; ttl: number } & Routing;
type Routing = { viewValue?: number[] | null; weight?: number | null; resolvingStatus: string };
type ApiZone = { id: number; domainName: string; packId?: number; packName?: string };
type ApiLine = { value: number; label: string; disabled?: boolean; children?: ApiLine[] | null };
type Answer<T> = { result?: T } | undefined;
type List<T> = { dataList?: T[] | null; totalCount?: number };

const FIELDS = typedFields({ names: { priority: 'mxPriority', target: 'hostValue' } });
const DEFAULT_LINE = -1;
const lineOf = (view: number): string => (view === DEFAULT_LINE ? 'default' : String(view));

export const connect: Connect = ({ access_key_id: id = '', access_key_secret: secretAccessKey = '' }, context) => {
  const key = { accessKeyId: id, secretAccessKey, region: 'cn-north-1', service: 'domainservice' };
  const http = context.http.extend(jdcloudClient(key));
  const list = <T extends { id: number }>(path: string, query = {}): Promise<T[]> =>
    allPages(byId, async ({ page: pageNumber }) => {
      const answer = await http.get<Answer<List<T>>>(path, { query: { pageNumber, pageSize: 99, ...query } });
      return counted(answer?.result?.dataList, answer?.result?.totalCount);
    });
  const records = async (zone: RemoteZone, query = {}): Promise<RemoteRecord[]> =>
    readEach(await list<ApiRecord>(pathOf(zone), query), zone.name, fromApi);
  const zones = async (query = {}): Promise<RemoteZone[]> =>
    (await list<ApiZone>('/domain', query)).map(({ id, domainName }) => zoneOf(domainName, id));

  return {
    check: () => http.get('/domain', { query: { pageNumber: 1, pageSize: 10 } }),
    listZones: () => zones(),
    findZone: (domainName) => zoneNamed(domainName, zones({ domainName })),
    async zoneInfo(zone) {
      const found = (await list<ApiZone>('/domain', { domainId: zone.id })).find(({ id }) => String(id) === zone.id);
      const query = { packId: found?.packId ?? 0, viewId: 0 };
      const tree = await http.get<Answer<{ data?: ApiLine[] | null }>>(`/domain/${zone.id}/viewTree`, { query });
      return zoneInfo({ lines: linesIn(tree?.result?.data, lineIn), plan: found?.packName ?? null });
    },
    ...fromList(records, {
      async createRecord(zone, record) {
        const json = { req: toApi(record) };
        const made = await http.post<Answer<{ dataList?: { id?: number } }>>(pathOf(zone), { json });
        return String(needed(made?.result?.dataList?.id, 'id of the record'));
      },
      async updateRecord(zone, { remoteId }, after) {
        await http.put(pathOf(zone, remoteId), { json: { req: { domainName: zone.name, ...toApi(after) } } });
        return remoteId;
      },
      turn: (zone, id, on) => http.put(`${pathOf(zone, id)}/status`, { json: { action: on ? 'enable' : 'disable' } }),
      deleteRecord: (zone, before) => http.delete(pathOf(zone, before.remoteId)),
      ...{ vague: true, whole: true },
      // not for a single record: a search for parts of names that finds nothing proves nothing
      findRecords: (zone, { host: search }) => records(zone, { search }),
    }),
  };
};

const pathOf = recordPath('/domain', 'ResourceRecord');
const lineIn = ({ value, label: name, disabled, children: below = [] }: ApiLine) => ({
  ...{ id: disabled ? null : lineOf(value), name, below },
});

function fromApi(record: ApiRecord, zone: string): RemoteRecord | null {
  const { id, hostRecord: host, type, ttl, viewValue, resolvingStatus } = record;
  const value = (/^(MX|SRV)$/.test(type) && FIELDS.rdata(type, { ...record })) || record.hostValue;
  // 0 also stands where there is none
  const weight = (/^(A|AAAA|CNAME)$/.test(type) && record.weight) || null;
  const own = { line: lineOf(viewValue?.at(-1) ?? DEFAULT_LINE), weight, enabled: resolvingStatus !== '4' };
  return plainRecord({ id, host, type, value, ttl }, zone, own);
}

function toApi(record: DnsRecord) {
  const { host: hostRecord, type, value: hostValue, ttl, line, weight } = record;
  const viewValue = line === 'default' ? DEFAULT_LINE : Number(line);
  const fields = type === 'MX' || type === 'SRV' ? FIELDS.of(record) : { hostValue, weight: weight ?? undefined };
  return { hostRecord, type, ttl, viewValue, ...fields };
}
