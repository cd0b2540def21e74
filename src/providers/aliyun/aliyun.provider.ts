import { type DnsRecord, type RemoteRecord, sameRecord } from '../../dns/record.js';
import { by } from '../kit/http/pages.js';
import { fromList } from '../kit/records/from-records.js';
import { plainRecord } from '../kit/records/plain-record.js';
import { alibaba } from '../kit/signing/alibaba.js';
import { readEach } from '../kit/values/unreadable.js';
import { refusePriority, refuseRoot, refuseText } from '../kit/values/value-limits.js';
import { linesIn, zoneInfo, zoneNamed, zoneOf } from '../kit/zone/zones.js';
import type { Connect, RemoteZone } from '../provider.js';

/** As the API has it (recorded 2019; official model): ids of 17 digits as text, names relative, targets without dot. */
type Text = 'RecordId' | 'RR' | 'Type' | 'Value' | 'Line' | 'Status';
type ApiRecord = Record<Text, string> & { TTL: number; Priority?: number; Locked?: boolean; Remark?: string };
type ApiZone = { DomainName: string; PunyCode?: string };
type Line = { LineCode: string; LineName?: string; LineDisplayName?: string; FatherCode?: string };
type Info = { RecordLines?: { RecordLine?: Line[] }; MinTtl?: number; VersionName?: string };
type Lists = { DomainRecords?: { Record?: ApiRecord[] }; Domains?: { Domain?: ApiZone[] } };

// the first recorded 2019, the others documented: the zone, or the record, is none of this account
const GONE = ['InvalidDomainName.NoExist', 'IncorrectDomainUser', 'DomainRecordNotBelongToUser'];
const LABEL = 'Alibaba Cloud DNS';
const isDuplicate = ({ message }: Error): boolean => message.includes('(code DomainRecordDuplicate)');
/** What dnscontrol saw refused; the length is documented. */
const NEVER = [[/^$|["\\]|^ | $/, 'quotes, a backslash, a blank at an end, or nothing in it']] as const;

export const connect: Connect = (credentials, context) => {
  const { read, write, list } = alibaba(context.http, credentials, { version: '2015-01-09', style: 'rpc', gone: GONE });
  const records = async ({ id: DomainName, name }: RemoteZone, filter = {}): Promise<RemoteRecord[]> => {
    const asked = { DomainName, ...filter, PageSize: 500 };
    const all = await list('DescribeDomainRecords', asked, by('RecordId'), (a: Lists) => a.DomainRecords?.Record);
    return readEach(all, name, fromApi);
  };
  const readRecord = async (zone: RemoteZone, { remoteId: RecordId }: RemoteRecord) =>
    fromApi(await read<ApiRecord>('DescribeDomainRecordInfo', { RecordId }), zone.name);
  const zones = async (filter = {}): Promise<RemoteZone[]> => {
    const asked = { ...filter, PageSize: 100 };
    const all = await list('DescribeDomains', asked, by('DomainName'), (a: Lists) => a.Domains?.Domain);
    return all.map(({ DomainName: id, PunyCode }) => zoneOf(PunyCode || id, id));
  };

  return {
    check: () => read('DescribeDomains', { PageSize: 1 }),
    listZones: () => zones(),
    // a Chinese name is known in Unicode: who asks for its A-labels would hear that there is none
    findZone: (name) => zoneNamed(name, zones(name.includes('xn--') ? {} : { KeyWord: name, SearchMode: 'EXACT' })),
    async zoneInfo({ id: DomainName }) {
      const info = await read<Info>('DescribeDomainInfo', { DomainName, NeedDetailAttributes: true });
      const { MinTtl: minTtl = null, VersionName: plan = null, RecordLines } = info;
      const line = ({ LineCode: id, LineName = id, LineDisplayName: name = LineName, FatherCode }: Line) => ({
        ...{ id, name, parent: FatherCode || undefined },
      });
      return zoneInfo({ lines: linesIn(RecordLines?.RecordLine, line), minTtl, plan });
    },
    ...fromList(records, {
      whole: true,
      createRecord: async ({ id: DomainName }, record) =>
        (await write<ApiRecord>('AddDomainRecord', { DomainName, ...toApi(record) }, false)).RecordId,
      async updateRecord(zone, before, after) {
        const written = write('UpdateDomainRecord', { RecordId: before.remoteId, ...toApi(after) });
        await written.catch(async (error: Error) => {
          // what is like that already, as after an answer that was lost, is refused
          const held = isDuplicate(error) ? await readRecord(zone, before) : null;
          if (!held || !sameRecord(held, after) || held.ttl !== after.ttl) throw error;
        });
        return before.remoteId;
      },
      turn: (_zone, RecordId, on) => write('SetDomainRecordStatus', { RecordId, Status: on ? 'Enable' : 'Disable' }),
      note: (_zone, RecordId, Remark) => write('UpdateDomainRecordRemark', { RecordId, Remark }),
      deleteRecord: (_zone, { remoteId: RecordId }) => write('DeleteDomainRecord', { RecordId }),
      ...{ readRecord, isDuplicate },
      // the keyword matches parts of names, too: the kit takes the record that is the same
      findRecords: (zone, { type, host }) => records(zone, { RRKeyWord: host, TypeKeyWord: type }),
    }),
  };
};

function fromApi(r: ApiRecord, zone: string): RemoteRecord | null {
  const { RecordId: id, RR: host, Type: type, Value: value, TTL: ttl, Priority: priority = 0 } = r;
  // "ENABLE" in lists (recorded 2019), "Enable" elsewhere (official model)
  const own = { line: r.Line, enabled: r.Status.toUpperCase() !== 'DISABLE', remark: r.Remark ?? '' };
  return plainRecord({ id, host, type, value, ttl, priority }, zone, { ...own, readOnly: r.Locked === true });
}

/** SRV is one text that begins with the priority. Without line it would be the default one. */
function toApi(record: DnsRecord) {
  const { host: RR, type: Type, value, priority, ttl: TTL, line: Line } = record;
  refuseText(record, LABEL, { bytes: 512, never: NEVER });
  // seen refused by dnscontrol, 2025; priorities: official model
  refuseRoot(record, LABEL);
  refusePriority(record, LABEL, 1);
  const Value = Type === 'SRV' ? `${priority} ${value}` : value;
  return { RR, Type, Value, TTL, Line, Priority: Type === 'MX' ? (priority ?? undefined) : undefined };
}
