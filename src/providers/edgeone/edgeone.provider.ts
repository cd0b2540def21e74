import { fullName, toAscii } from '../../dns/names.js';
import { type DnsRecord, fromRdata, type RemoteRecord } from '../../dns/record.js';
import { txtPresentation } from '../../dns/text.js';
import { NotBegun, ProviderError } from '../errors.js';
import { inParts } from '../parts.js';
import type { Connect, RemoteZone } from '../provider.js';
import { fromRecords } from '../records.js';
import { tencent } from '../signing/tencent.js';
import { refuseRoot, refuseText } from '../texts.js';

/** As the API has it (official model): ids are words, names full, weight -1 where there is none. */
type ApiRecord = Record<'RecordId' | 'Name' | 'Type' | 'Content', string> & { TTL: number; Priority?: number } & {
  Location?: string;
  Weight?: number;
  Status?: string;
};
type ApiZone = { ZoneId: string; ZoneName: string };
type Records = { TotalCount?: number; DnsRecords?: ApiRecord[] | null };
type Zones = { TotalCount?: number; Zones?: ApiZone[] | null };

// of the official client's list
const GONE = ['ResourceNotFound', 'ResourceUnavailable.ZoneNotFound', 'InvalidParameter.ZoneNotFound'];
const TEXTS = { never: [[/^$/, 'nothing in it']] } as const;
/** Lines and weights are of these alone (official model). */
const ROUTED = ['A', 'AAAA', 'CNAME'];

export const connect: Connect = ({ secret_id: secretId = '', secret_key: secretKey = '' }, context) => {
  const key = { secretId, secretKey, service: 'teo' };
  const { read, write, list } = tencent(context.http, key, '2022-09-01', GONE);
  const records = async (
    { id: ZoneId, name }: RemoteZone,
    by: Record<string, string> = {},
  ): Promise<RemoteRecord[]> => {
    const Filters = Object.entries(by).map(([Name, value]) => ({ Name, Values: [value], Fuzzy: false }));
    const of = (a: Records) => ({ entries: a.DnsRecords, total: a.TotalCount });
    const all = await list('DescribeDnsRecords', { ZoneId, Filters, Limit: 1000 }, (r: ApiRecord) => r.RecordId, of);
    return all.flatMap((record) => fromApi(record, name) ?? []);
  };
  const zones = async (...more: object[]): Promise<RemoteZone[]> => {
    // others hold no DNS records: their names are delegated elsewhere
    const Filters = [{ Name: 'zone-type', Values: ['full'] }, ...more];
    const of = (a: Zones) => ({ entries: a.Zones, total: a.TotalCount });
    const all = await list('DescribeZones', { Filters, Limit: 100 }, (zone: ApiZone) => zone.ZoneId, of);
    return all.map(({ ZoneId: id, ZoneName }) => ({ id, name: toAscii(ZoneName) }));
  };
  const readRecord = async (zone: RemoteZone, { remoteId }: { remoteId: string }) =>
    (await records(zone, { id: remoteId })).find((record) => record.remoteId === remoteId) ?? null;
  /** What a write is refused with that is of no record is not documented: so it is looked up. */
  const writeOf = (zone: RemoteZone, remoteId: string, action: string, more: object) =>
    write(action, { ZoneId: zone.id, ...more }).catch(async (error: ProviderError) => {
      if (error.kind !== 'rejected' || (await readRecord(zone, { remoteId }))) throw error;
      throw new ProviderError('not_found', error.message);
    });

  return {
    check: () => read('DescribeZones', { Limit: 1 }),
    listZones: () => zones(),
    findZone: async (name) =>
      (await zones({ Name: 'zone-name', Values: [name] })).find((zone) => zone.name === name) ?? null,
    listRecords: (zone) => records(zone),
    apply: fromRecords({
      ...inParts({
        create: async (zone, record) =>
          (await write<ApiRecord>('CreateDnsRecord', { ZoneId: zone.id, ...toApi(record, zone) }, false)).RecordId,
        async update(zone, { remoteId }, after) {
          const DnsRecords = [{ RecordId: remoteId, ...toApi(after, zone) }];
          await writeOf(zone, remoteId, 'ModifyDnsRecords', { DnsRecords });
          return remoteId;
        },
        turn: (zone, id, on) =>
          writeOf(zone, id, 'ModifyDnsRecordsStatus', { [on ? 'RecordsToEnable' : 'RecordsToDisable']: [id] }),
      }),
      deleteRecord: (zone, { remoteId }) => writeOf(zone, remoteId, 'DeleteDnsRecords', { RecordIds: [remoteId] }),
      readRecord,
      findRecords: (zone, { type, host }) => records(zone, { type, name: fullName(host, zone.name) }),
    }),
  };
};

function fromApi(r: ApiRecord, zone: string): RemoteRecord | null {
  const { Type, Content, Location = 'Default', Weight = -1 } = r;
  const rdata = Type === 'TXT' ? txtPresentation(Content) : Type === 'MX' ? `${r.Priority ?? 0} ${Content}` : Content;
  const read = fromRdata(r.Name, Type, rdata, r.TTL, zone);
  const line = Location === '' || Location === 'Default' ? 'default' : Location;
  const weight = Weight < 0 ? null : Weight;
  return read && { ...read, remoteId: r.RecordId, line, weight, enabled: r.Status !== 'disable' };
}

function toApi(record: DnsRecord, zone: RemoteZone): object {
  const { host, type: Type, value, priority, ttl: TTL, line, weight } = record;
  refuseText(record, 'Tencent EdgeOne', TEXTS);
  // of the root nothing is documented
  refuseRoot(record, 'Tencent EdgeOne');
  if (Type === 'MX' && Number(priority) > 50) throw new NotBegun('rejected', 'EdgeOne takes MX priorities of 0 to 50');
  const Content = Type === 'SRV' ? `${priority} ${value}` : value;
  const routed = { Location: line === 'default' ? 'Default' : line, Weight: weight ?? -1 };
  const more = { ...(ROUTED.includes(Type) && routed), ...(Type === 'MX' && { Priority: priority }) };
  return { Name: fullName(host, zone.name), Type, Content, TTL, ...more };
}
