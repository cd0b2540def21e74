import type { DnsRecord, RemoteRecord } from '../../dns/record.js';
import { NotBegun, needed } from '../kit/http/errors.js';
import { allPages, counted } from '../kit/http/pages.js';
import { fromList } from '../kit/records/from-records.js';
import { plainRecord } from '../kit/records/plain-record.js';
import { changedPart } from '../kit/records/record-verbs.js';
import { volcengineClient } from '../kit/signing/volcengine.js';
import { readEach } from '../kit/values/unreadable.js';
import { linesIn, zoneInfo, zoneNamed, zoneOf } from '../kit/zone/zones.js';
import type { Connect, RemoteZone } from '../provider.js';

/** As the API has it (official model and documentation, 2025). Ids have 19 digits, and are texts. */
type ApiRecord = { RecordID: string; Host: string; Type: string; Value: string; TTL: number; Line: string } & Own;
type Own = { Enable: boolean; Weight?: number | null; Remark?: string | null };
type ApiLine = { Value: string; Name?: string; FatherValue?: string; Children?: ApiLine[] | null };
type ApiZone = { ZID: number; ZoneName: string };

/** The least TTL of a plan (as another client has it). */
const LEAST_TTL: Record<string, number> = { free_inner: 600, professional_inner: 300, enterprise_inner: 60 };
/** of which fields each of the API follows; the others hold the value */
const SOURCES = { Type: ['type'], TTL: ['ttl'], Weight: ['weight'], Remark: ['remark'] } as const;

export const connect: Connect = ({ access_key_id: id = '', secret_access_key: secretAccessKey = '' }, context) => {
  const key = { accessKeyId: id, secretAccessKey, region: 'cn-beijing', service: 'dns' };
  const http = context.http.extend(volcengineClient(key));
  const of = (Action: string) => ({ Action, Version: '2018-08-01' });
  const read = async <T>(action: string, query = {}): Promise<T> =>
    needed((await http.get<{ Result?: T } | undefined>('/', { query: { ...of(action), ...query } }))?.Result, 'result');
  const write = async (action: string, json: object): Promise<Partial<ApiRecord> | undefined> =>
    (await http.post<{ Result?: Partial<ApiRecord> } | undefined>('/', { query: of(action), json }))?.Result;
  const list = <T>(action: string, key: string, idOf: (entry: T) => string | number, query: object): Promise<T[]> =>
    allPages(idOf, async ({ page: PageNumber }) => {
      const answer = await read<Record<string, unknown>>(action, { PageNumber, ...query });
      return counted(answer[key] as T[] | null | undefined, (answer.Total ?? answer.TotalCount) as number | undefined);
    });
  const zones = async (query = {}): Promise<RemoteZone[]> =>
    (await list('ListZones', 'Zones', getId, { PageSize: 100, ...query })).map((z) => zoneOf(z.ZoneName, z.ZID));
  const records = async ({ id: ZID, name }: RemoteZone, query = {}): Promise<RemoteRecord[]> => {
    const all = { ZID, PageSize: 500, ...query };
    const found = await list<ApiRecord>('ListRecords', 'Records', (record) => record.RecordID, all);
    return readEach(found, name, fromApi);
  };

  return {
    check: () => read('ListZones', { PageNumber: 1, PageSize: 1 }).then(() => undefined),
    listZones: () => zones(),
    findZone: (name) => zoneNamed(name, zones({ Key: name, SearchMode: 'exact' })),
    async zoneInfo({ id: ZID }) {
      const { TradeCode: plan = null } = await read<{ TradeCode?: string }>('QueryZone', { ZID });
      const { Lines } = await read<{ Lines?: ApiLine[] | null }>('ListLines', { ZID });
      const line = ({ Value: id, Name: name = id, FatherValue, Children: below = [] }: ApiLine) => ({
        ...{ id, name, parent: FatherValue || undefined, below },
      });
      return zoneInfo({ lines: linesIn(Lines, line), minTtl: LEAST_TTL[plan ?? ''] ?? null, plan });
    },
    ...fromList(records, {
      whole: true,
      createRecord: async ({ id: ZID }, record) =>
        needed((await write('CreateRecord', { ZID: Number(ZID), ...toApi(record) }))?.RecordID, 'id of the record'),
      async updateRecord(_zone, { remoteId: RecordID }, after, changed) {
        const { Host, Line, ...rest } = toApi(after);
        // host and line are demanded, what is left out stays (documented)
        await write('UpdateRecord', { RecordID, Host, Line, ...changedPart(rest, changed, SOURCES) });
        return RecordID;
      },
      turn: (_zone, RecordID, Enable) => write('UpdateRecordStatus', { RecordID, Enable }),
      deleteRecord: (_zone, { remoteId: RecordID }) => write('DeleteRecord', { RecordID }),
      readRecord: async (zone, { remoteId: RecordID }) => fromApi(await read('QueryRecord', { RecordID }), zone.name),
      isDuplicate: ({ message }) => message.includes('ErrDBDuplicated'),
      findRecords: (zone, { type: Type, host: Host }) => records(zone, { Host, Type, SearchMode: 'exact' }),
    }),
  };
};

const getId = ({ ZID }: ApiZone): number => ZID;

function fromApi({ RecordID: id, Host: host, Type: type, Value: value, TTL: ttl, ...r }: ApiRecord, zone: string) {
  const line = r.Line.toLowerCase() === 'default' ? 'default' : r.Line;
  const own = { line, weight: r.Weight ?? null, enabled: r.Enable, ...(r.Remark ? { remark: r.Remark } : {}) };
  return plainRecord({ id, host, type, value, ttl }, zone, own);
}

function toApi({ host: Host, type: Type, value, priority, ttl: TTL, line: Line, weight, remark }: DnsRecord) {
  if ([...(remark ?? '')].length > 16) throw new NotBegun('rejected', 'Volcengine keeps 16 characters of a remark');
  const Value = priority === null ? value : `${priority} ${value}`;
  return { Host, Type, Value, TTL, Line, Weight: weight ?? undefined, Remark: remark };
}
