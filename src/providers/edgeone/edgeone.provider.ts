import { fullName } from '../../dns/names.js';
import type { DnsRecord, RemoteRecord } from '../../dns/record.js';
import { fromList } from '../kit/records/from-records.js';
import { plainRecord } from '../kit/records/plain-record.js';
import { tencent } from '../kit/signing/tencent.js';
import { readEach } from '../kit/values/unreadable.js';
import { EMPTY, refusePriority, refuseRoot, refuseText } from '../kit/values/value-limits.js';
import { zoneNamed, zoneOf } from '../kit/zone/zones.js';
import type { Connect, RemoteZone } from '../provider.js';

/** As the API has it (official model): ids are words, names full, weight -1 where there is none. */
type ApiRecord = Record<'RecordId' | 'Name' | 'Type' | 'Content', string> & { TTL: number; Priority?: number } & {
  Location?: string;
  Weight?: number;
  Status?: string;
};
/** `Status`: active, pending, moved, deactivated, initializing (official model). */
type ApiZone = { ZoneId: string; ZoneName: string; Status?: string };
type Records = { TotalCount?: number; DnsRecords?: ApiRecord[] | null };
type Zones = { TotalCount?: number; Zones?: ApiZone[] | null };

// of the official client's list
const GONE = ['ResourceNotFound', 'ResourceUnavailable.ZoneNotFound', 'InvalidParameter.ZoneNotFound'];
/** Lines and weights are of these alone (official model). */
const ROUTED = ['A', 'AAAA', 'CNAME'];

export const connect: Connect = ({ secret_id: secretId = '', secret_key: secretKey = '' }, context) => {
  const key = { secretId, secretKey, service: 'teo' };
  const { read, write, list } = tencent(context.http, key, '2022-09-01', GONE);
  const records = async ({ id: ZoneId, name }: RemoteZone, by = {}): Promise<RemoteRecord[]> => {
    const Filters = Object.entries(by).map(([Name, value]) => ({ Name, Values: [value], Fuzzy: false }));
    const of = (a: Records) => ({ entries: a.DnsRecords, total: a.TotalCount });
    const all = await list('DescribeDnsRecords', { ZoneId, Filters, Limit: 1000 }, (r: ApiRecord) => r.RecordId, of);
    return readEach(all, name, fromApi);
  };
  const zones = async (...more: object[]): Promise<RemoteZone[]> => {
    // others hold no DNS records: their names are delegated elsewhere
    const Filters = [{ Name: 'zone-type', Values: ['full'] }, ...more];
    const of = (a: Zones) => ({ entries: a.Zones, total: a.TotalCount });
    const all = await list('DescribeZones', { Filters, Limit: 100 }, (zone: ApiZone) => zone.ZoneId, of);
    return all.map(({ ZoneId, ZoneName, Status = 'active' }) =>
      zoneOf(ZoneName, ZoneId, { idle: Status !== 'active' }),
    );
  };

  return {
    check: () => read('DescribeZones', { Limit: 1 }),
    listZones: () => zones(),
    findZone: (name) => zoneNamed(name, zones({ Name: 'zone-name', Values: [name] })),
    ...fromList(records, {
      createRecord: async (zone, record) =>
        (await write<ApiRecord>('CreateDnsRecord', { ZoneId: zone.id, ...toApi(record, zone) }, false)).RecordId,
      async updateRecord(zone, { remoteId }, after) {
        const DnsRecords = [{ RecordId: remoteId, ...toApi(after, zone) }];
        await write('ModifyDnsRecords', { ZoneId: zone.id, DnsRecords });
        return remoteId;
      },
      turn: ({ id: ZoneId }, id, on) =>
        write('ModifyDnsRecordsStatus', { ZoneId, [on ? 'RecordsToEnable' : 'RecordsToDisable']: [id] }),
      deleteRecord: ({ id: ZoneId }, { remoteId: id }) => write('DeleteDnsRecords', { ZoneId, RecordIds: [id] }),
      readRecord: async (zone, { remoteId: id }) =>
        (await records(zone, { id })).find((r) => r.remoteId === id) ?? null,
      // what a write is refused with that is of no record is not documented
      vague: true,
      whole: true,
      findRecords: (zone, { type, host }) => records(zone, { type, name: fullName(host, zone.name) }),
    }),
  };
};

function fromApi(r: ApiRecord, zone: string): RemoteRecord | null {
  const { RecordId: id, Name: name, Type: type, Content: value, TTL: ttl, Priority: priority = 0 } = r;
  const { Location = '', Weight = -1, Status } = r;
  const line = Location === '' || Location === 'Default' ? 'default' : Location;
  const own = { line, weight: Weight < 0 ? null : Weight, enabled: Status !== 'disable' };
  return plainRecord({ id, name, type, value, ttl, priority }, zone, own);
}

function toApi(record: DnsRecord, zone: RemoteZone): object {
  const { host, type: Type, value, priority, ttl: TTL, line, weight } = record;
  refuseText(record, 'Tencent EdgeOne', { never: [EMPTY] });
  // of the root nothing is documented
  refuseRoot(record, 'Tencent EdgeOne');
  refusePriority(record, 'Tencent EdgeOne');
  const Content = Type === 'SRV' ? `${priority} ${value}` : value;
  const routed = { Location: line === 'default' ? 'Default' : line, Weight: weight ?? -1 };
  const more = { ...(ROUTED.includes(Type) && routed), ...(Type === 'MX' && { Priority: priority }) };
  return { Name: fullName(host, zone.name), Type, Content, TTL, ...more };
}
