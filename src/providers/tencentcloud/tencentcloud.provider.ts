import { absolute, fullName, toAscii } from '../../dns/names.js';
import { type DnsRecord, fromRdata, type RemoteRecord, rdataOf } from '../../dns/record.js';
import { txtFromInput, txtPresentation } from '../../dns/text.js';
import { orNull } from '../kit/http/errors.js';
import { fromList } from '../kit/records/from-records.js';
import { tencent } from '../kit/signing/tencent.js';
import { readEach } from '../kit/values/unreadable.js';
import { refuseRoot, refuseText, textOrStrings } from '../kit/values/value-limits.js';
import type { Connect, RemoteZone } from '../provider.js';

/** As lists have it (official model): names relative, targets with final dot, the weight null where there is none. */
type ApiRecord = { RecordId: number; Name: string; Type: string; LineId: string; Line: string; Status: string } & Both;
type Both = { Value: string; TTL: number; MX?: number; Weight?: number | null; Remark?: string; DefaultNS?: boolean };
/** The same, of one record that is asked for. */
type ApiOne = Both & { Id: number; SubDomain: string; RecordType: string; Enabled: number } & {
  RecordLineId: string;
  RecordLine: string;
};
type ApiZone = { Name: string; Punycode?: string };
type Line = { LineId?: string | null; LineName: string; Useful?: boolean; SubGroup?: Line[] | null };
type Records = { RecordCountInfo?: { TotalCount: number }; RecordList?: ApiRecord[] | null };
type Zones = { DomainCountInfo?: { DomainTotal: number }; DomainList?: ApiZone[] | null };
type Info = { DomainInfo: { Domain: string; Punycode?: string; GradeTitle?: string } };

const NO_ZONES = 'ResourceNotFound.NoDataOfDomain';
// of the official client's list: no such zone, no such record
const GONE = ['InvalidParameterValue.DomainNotExists', NO_ZONES, 'InvalidParameter.RecordIdInvalid'];
const EXISTS = '(code InvalidParameter.DomainRecordExist)';
const TEXTS = { never: [[/^$/, 'nothing in it']] } as const;

export const connect: Connect = ({ secret_id: secretId = '', secret_key: secretKey = '' }, context) => {
  const key = { secretId, secretKey, service: 'dnspod' };
  const { read, write, list } = tencent(context.http, key, '2021-03-23', GONE);
  const records = async ({ id: Domain, name }: RemoteZone, filter = {}): Promise<RemoteRecord[]> => {
    // else a zone without records is an error
    const asked = { Domain, ...filter, ErrorOnEmpty: 'no', Limit: 3000 };
    const of = (a: Records) => ({ entries: a.RecordList, total: a.RecordCountInfo?.TotalCount });
    const all = await list('DescribeRecordList', asked, (r: ApiRecord) => r.RecordId, of);
    return readEach(all, name, fromApi);
  };
  const zones = (): Promise<RemoteZone[]> => {
    const of = (a: Zones) => ({ entries: a.DomainList, total: a.DomainCountInfo?.DomainTotal });
    const all = list('DescribeDomainList', { Limit: 3000 }, (zone: ApiZone) => zone.Name, of);
    return all.then((found) => found.map(toZone)).catch(none);
  };

  return {
    check: async () => void (await read('DescribeDomainList', { Limit: 1 }).catch(none)),
    listZones: zones,
    async findZone(name) {
      const found = await orNull(read<Info>('DescribeDomain', { Domain: name }));
      const zone = found && toZone({ ...found.DomainInfo, Name: found.DomainInfo.Domain });
      return zone?.name === name ? zone : null;
    },
    async zoneInfo({ id: Domain }) {
      const { DomainInfo } = await read<Info>('DescribeDomain', { Domain });
      const { LineList } = await read<{ LineList: Line[] }>('DescribeRecordLineCategoryList', { Domain });
      return { lines: flat(LineList), minTtl: null, expiresAt: null, plan: DomainInfo.GradeTitle ?? null };
    },
    ...fromList(records, {
      ...{ whole: true, apart: ['enabled', 'remark'], doubles: 'TXT' as const },
      createRecord: async ({ id: Domain }, record) =>
        String((await write<ApiRecord>('CreateRecord', { Domain, ...toApi(record) }, false)).RecordId),
      async updateRecord({ id: Domain }, before, after, changed) {
        const one = { Domain, RecordId: Number(before.remoteId) };
        // ModifyRecord replaces the whole record: the state and the remark alone are written alone
        if (changed.size > 1 || !(changed.has('enabled') || changed.has('remark'))) {
          await write('ModifyRecord', { ...one, ...toApi({ ...after, remark: after.remark ?? before.remark ?? '' }) });
        } else if (changed.has('remark')) await write('ModifyRecordRemark', { ...one, Remark: after.remark });
        else await write('ModifyRecordStatus', { ...one, Status: after.enabled ? 'ENABLE' : 'DISABLE' });
        return before.remoteId;
      },
      deleteRecord: ({ id: Domain }, { remoteId }) => write('DeleteRecord', { Domain, RecordId: Number(remoteId) }),
      async readRecord({ id: Domain, name }, { remoteId }) {
        const asked = { Domain, RecordId: Number(remoteId) };
        const { RecordInfo: r } = await read<{ RecordInfo: ApiOne }>('DescribeRecord', asked);
        const names = {
          RecordId: r.Id,
          Name: r.SubDomain,
          Type: r.RecordType,
          LineId: r.RecordLineId,
          Line: r.RecordLine,
        };
        return fromApi({ ...r, ...names, Status: r.Enabled ? 'ENABLE' : 'DISABLE' }, name);
      },
      findRecords: (zone, { type, host }) => records(zone, { Subdomain: host, RecordType: type }),
      isDuplicate: (error) => error.message.includes(EXISTS),
    }),
  };
};

/** An account without zones is answered by an error. */
function none(error: Error): RemoteZone[] {
  if (error.message.includes(`(code ${NO_ZONES})`)) return [];
  throw error;
}
const toZone = ({ Name, Punycode }: ApiZone): RemoteZone => ({ id: Name, name: toAscii(Punycode || Name) });

/** The lines that a zone's plan has, of a tree whose groups may have no id. */
const flat = (list: readonly Line[], parent?: string): { id: string; name: string; parent?: string }[] =>
  list.flatMap(({ LineId, LineName: name, Useful, SubGroup }) => {
    const id = LineId && lineOf(LineId);
    const own = id && Useful !== false ? [{ id, name, ...(parent && { parent }) }] : [];
    return [...own, ...flat(SubGroup ?? [], id || parent)];
  });
/** A line of the user's own making has a name alone. */
const lineOf = (id: string, name = id): string => (id === '0' || (!id && name === '默认') ? 'default' : id || name);

function fromApi(r: ApiRecord, zone: string): RemoteRecord | null {
  const { RecordId, Type, Value, MX = 0, Weight: weight = null, Remark: remark = '' } = r;
  const rdata =
    Type === 'TXT' ? txtPresentation(txtFromInput(Value)) : /^(MX|HTTPS|SVCB)$/.test(Type) ? `${MX} ${Value}` : Value;
  const read = fromRdata(fullName(r.Name, zone), Type, rdata, r.TTL, zone);
  const more = { remoteId: String(RecordId), weight, line: lineOf(r.LineId, r.Line), enabled: r.Status !== 'DISABLE' };
  // the vendor's own NS cannot be changed
  return read && { ...read, ...more, remark, readOnly: read.readOnly || r.DefaultNS === true };
}

/** All that a record has: what is left out becomes the default. */
function toApi(record: DnsRecord): object {
  const { host: SubDomain, type: RecordType, value, priority, ttl: TTL, weight, line, enabled, remark } = record;
  refuseText(record, 'Tencent Cloud DNSPod', TEXTS);
  // the MX is refused by the vendor, as dnscontrol has it; of the SRV its versions differ
  refuseRoot(record, 'Tencent Cloud DNSPod');
  const Value = RecordType === 'TXT' ? textOrStrings(value) : RecordType === 'MX' ? absolute(value) : rdataOf(record);
  // the name of the line is demanded, its id counts (official model)
  const id = line === 'default' ? '0' : /=/.test(line) ? line : undefined;
  const Line = { RecordLine: id ? '默认' : line, RecordLineId: id, Weight: weight ?? undefined };
  const more = {
    MX: RecordType === 'MX' ? priority : undefined,
    Remark: remark,
    Status: enabled ? 'ENABLE' : 'DISABLE',
  };
  return { SubDomain, RecordType, Value, TTL, ...Line, ...more };
}
