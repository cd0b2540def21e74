import { fullName, toAscii } from '../../dns/names.js';
import { type DnsRecord, fromRdata, type RemoteRecord } from '../../dns/record.js';
import { txtPresentation } from '../../dns/text.js';
import { cutShort, NotBegun } from '../errors.js';
import { allPages } from '../pages.js';
import { inParts } from '../parts.js';
import type { Connect, RemoteZone } from '../provider.js';
import { changedPart, fromRecords } from '../records.js';
import { volcengineClient } from '../signing/volcengine.js';

/** As the API has it (official model and documentation, 2025). Ids have 19 digits, and are texts. */
type ApiRecord = { RecordID: string; Host: string; Type: string; Value: string; TTL: number; Line: string } & {
  Enable: boolean;
  Weight?: number | null;
  Remark?: string | null;
};
type ApiLine = { Value: string; Name?: string; FatherValue?: string; Children?: ApiLine[] | null };
type ApiZone = { ZID: number; ZoneName: string };

const NAMES = ['CNAME', 'NS', 'MX', 'SRV'];
/** The least TTL of a plan (as another client has it). */
const LEAST_TTL: Record<string, number> = { free_inner: 600, professional_inner: 300, enterprise_inner: 60 };
/** of which fields each of the API follows; the others hold the value */
const SOURCES = { Type: ['type'], TTL: ['ttl'], Weight: ['weight'], Remark: ['remark'] } as const;

export const connect: Connect = ({ access_key_id: id = '', secret_access_key: secretAccessKey = '' }, context) => {
  const key = { accessKeyId: id, secretAccessKey, region: 'cn-beijing', service: 'dns' };
  const http = context.http.extend(volcengineClient(key));
  const of = (Action: string) => ({ Action, Version: '2018-08-01' });
  const read = async <T>(action: string, query = {}): Promise<T> => {
    const answer = await http.get<{ Result?: T } | undefined>('/', { query: { ...of(action), ...query } });
    if (!answer?.Result) throw cutShort('result');
    return answer.Result;
  };
  const write = async (action: string, json: object): Promise<Partial<ApiRecord> | undefined> =>
    (await http.post<{ Result?: Partial<ApiRecord> } | undefined>('/', { query: of(action), json }))?.Result;
  const list = <T>(action: string, key: string, idOf: (entry: T) => string | number, query: object): Promise<T[]> =>
    allPages(idOf, async ({ page: PageNumber }) => {
      const answer = await read<Record<string, unknown>>(action, { PageNumber, ...query });
      const total = Number(answer.Total ?? answer.TotalCount ?? Number.NaN);
      // an empty list is null (documented)
      return { entries: (answer[key] ?? (total === 0 ? [] : undefined)) as T[] | undefined, total };
    });
  const zones = async (query = {}): Promise<RemoteZone[]> =>
    (await list<ApiZone>('ListZones', 'Zones', (zone) => zone.ZID, { PageSize: 100, ...query })).map((zone) => ({
      ...{ id: String(zone.ZID), name: toAscii(zone.ZoneName).replace(/\.$/, '') },
    }));
  const records = async ({ id: ZID, name }: RemoteZone, query = {}): Promise<RemoteRecord[]> => {
    const all = { ZID, PageSize: 500, ...query };
    const found = await list<ApiRecord>('ListRecords', 'Records', (record) => record.RecordID, all);
    return found.flatMap((record) => fromApi(record, name) ?? []);
  };

  return {
    check: () => read('ListZones', { PageNumber: 1, PageSize: 1 }).then(() => undefined),
    listZones: () => zones(),
    findZone: async (name) =>
      (await zones({ Key: name, SearchMode: 'exact' })).find((zone) => zone.name === name) ?? null,
    listRecords: (zone) => records(zone),
    async zoneInfo({ id: ZID }) {
      const { TradeCode: plan = null } = await read<{ TradeCode?: string }>('QueryZone', { ZID });
      const { Lines } = await read<{ Lines?: ApiLine[] | null }>('ListLines', { ZID });
      return { lines: linesIn(Lines ?? []), minTtl: LEAST_TTL[plan ?? ''] ?? null, expiresAt: null, plan };
    },
    apply: fromRecords({
      ...inParts({
        async create(zone, record) {
          const made = await write('CreateRecord', { ZID: Number(zone.id), ...toApi(record) });
          if (!made?.RecordID) throw cutShort('id of the record').applied(true);
          return made.RecordID;
        },
        async update(_zone, { remoteId: RecordID }, after, changed) {
          const { Host, Line, ...rest } = toApi(after);
          // host and line are demanded, what is left out stays (documented)
          await write('UpdateRecord', { RecordID, Host, Line, ...changedPart(rest, changed, SOURCES) });
          return RecordID;
        },
        turn: (_zone, RecordID, Enable) => write('UpdateRecordStatus', { RecordID, Enable }),
      }),
      deleteRecord: (_zone, { remoteId: RecordID }) => write('DeleteRecord', { RecordID }),
      readRecord: async (zone, { remoteId: RecordID }) => fromApi(await read('QueryRecord', { RecordID }), zone.name),
      isDuplicate: ({ message }) => message.includes('ErrDBDuplicated'),
      findRecords: (zone, { type: Type, host: Host }) => records(zone, { Host, Type, SearchMode: 'exact' }),
    }),
  };
};

/** Lines with those below them. */
const linesIn = (lines: ApiLine[]): { id: string; name: string; parent?: string }[] =>
  lines.flatMap(({ Value: id, Name: name = id, FatherValue: parent, Children }) => [
    { id, name, ...(parent ? { parent } : {}) },
    ...linesIn(Children ?? []),
  ]);

function fromApi({ RecordID, Host, Type, Value, TTL, Line, Weight, Remark, Enable }: ApiRecord, zone: string) {
  const text = NAMES.includes(Type) ? Value.replace(/\.?$/, '.') : Type === 'TXT' ? txtPresentation(Value) : Value;
  const read = fromRdata(fullName(Host, zone), Type, text, TTL, zone);
  const line = Line.toLowerCase() === 'default' ? 'default' : Line;
  const more = { line, weight: Weight ?? null, enabled: Enable, ...(Remark ? { remark: Remark } : {}) };
  return read && { ...read, ...more, remoteId: String(RecordID) };
}

function toApi({ host: Host, type: Type, value, priority, ttl: TTL, line: Line, weight, remark }: DnsRecord) {
  if ([...(remark ?? '')].length > 16) throw new NotBegun('rejected', 'Volcengine keeps 16 characters of a remark');
  const Value = priority === null ? value : `${priority} ${value}`;
  return { Host, Type, Value, TTL, Line, Weight: weight ?? undefined, Remark: remark };
}
