import { createHmac } from 'node:crypto';
import { type Answer, type Received, type StandIn, startStandIn } from '../../support/vendor.js';

export interface AliyunRecord {
  RecordId: string;
  RR: string;
  Type: string;
  Value: string;
  TTL: number;
  Priority?: number;
  Line: string;
  Status: string;
  Locked: boolean;
  Weight: number;
  Remark?: string;
}

export const KEY = { id: 'LTAI-stand-in', secret: 'a-secret-of-the-stand-in' };

const encoded = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

/** The signature by the steps of the vendor's documentation. */
function signature(method: string, query: Record<string, string>): string {
  const names = Object.keys(query).filter((name) => name !== 'Signature');
  const canonical = names.sort().map((name) => `${encoded(name)}=${encoded(query[name] as string)}`);
  const text = [method, encoded('/'), encoded(canonical.join('&'))].join('&');
  return createHmac('sha1', `${KEY.secret}&`).update(text).digest('base64');
}

/**
 * Alibaba Cloud DNS as recorded 2019 and as its official model tells: RPC, errors with HTTP 400, no final dots, lists
 * of the newest first.
 */
export async function startAliyun(): Promise<StandIn & { records: AliyunRecord[]; most: { page: number } }> {
  const domains = [
    { DomainName: 'other.example', PunyCode: 'other.example', DomainId: 'd-1' },
    { DomainName: 'contract.example', PunyCode: 'contract.example', DomainId: 'd-2' },
    { DomainName: '例子.example', PunyCode: 'xn--fsqu00a.example', DomainId: 'd-3' },
  ];
  const records: AliyunRecord[] = [];
  const most = { page: 500 };
  const nonces = new Set<string>();
  let ids = 17_606_200_807_154_688n;
  const no = (Code: string, Message = Code, status = 400): Answer => ({
    status,
    body: { RequestId: 'R', HostId: 'alidns.aliyuncs.com', Code, Message },
  });
  const ok = (body: object): Answer => ({ body: { RequestId: 'R', ...body } });

  /** What is refused of a record as it shall be. */
  const wrong = (record: AliyunRecord): Answer | null => {
    const { RR, Type, Value, Line, RecordId } = record;
    if (!Value) return no('MissingValue', 'Value is mandatory for this action.');
    if (Type === 'TXT' && (Value.length > 512 || /["\\]|^ | $/.test(Value))) return no('DomainRecordValueInvalid');
    if (/\.$/.test(Value)) return no('InvalidValue.Dot');
    if (Type === 'MX' && !(Number(record.Priority) >= 1 && Number(record.Priority) <= 50)) return no('InvalidPriority');
    const beside = records.filter((other) => other.RR === RR && other.Line === Line && other.RecordId !== RecordId);
    const same = (o: AliyunRecord) => o.Type === Type && o.Value === Value && o.Priority === record.Priority;
    if (beside.some(same)) return no('DomainRecordDuplicate', 'The domain record is duplicated.');
    if (beside.some((o) => o.Type === 'CNAME' || (Type === 'CNAME' && o.Type !== 'CNAME'))) {
      return no('DomainRecordConflict', 'The domain record is conflict with other records.');
    }
    return null;
  };
  const fields = (query: Record<string, string>) => ({
    ...{ RR: query.RR ?? '', Type: query.Type ?? '', Value: query.Value ?? '', Line: query.Line ?? 'default' },
    TTL: Number(query.TTL ?? 600),
    ...(query.Priority === undefined ? {} : { Priority: Number(query.Priority) }),
  });
  const page = <T>(query: Record<string, string>, outer: string, inner: string, all: T[], limit: number): Answer => {
    const asked = Number(query.PageSize ?? 20);
    if (asked > limit) return no('InvalidPageSize');
    const size = Math.min(asked, most.page);
    const at = (Number(query.PageNumber ?? 1) - 1) * size;
    return ok({
      ...{ PageNumber: Number(query.PageNumber ?? 1), PageSize: size, TotalCount: all.length },
      [outer]: { [inner]: all.slice(at, at + size) },
    });
  };

  const answer = ({ method, path, query }: Received): Answer => {
    if (path !== '/' || query.Version !== '2015-01-09' || query.Format?.toLowerCase() !== 'json') {
      return no('InvalidVersion');
    }
    if (query.AccessKeyId !== KEY.id)
      return no('InvalidAccessKeyId.NotFound', 'Specified access key is not found.', 404);
    if (query.SignatureMethod !== 'HMAC-SHA1' || query.Signature !== signature(method, query)) {
      return no('SignatureDoesNotMatch', 'Specified signature is not matched with our calculation.');
    }
    if (nonces.has(query.SignatureNonce ?? '')) return no('SignatureNonceUsed');
    nonces.add(query.SignatureNonce ?? '');
    const domain = domains.find((d) => [d.DomainName, d.PunyCode].includes(query.DomainName ?? ''));
    const known = records.find((record) => record.RecordId === query.RecordId);
    switch (query.Action) {
      case 'DescribeDomains': {
        const exact = query.SearchMode === 'EXACT';
        const hit = (name: string) => !query.KeyWord || (exact ? name === query.KeyWord : name.includes(query.KeyWord));
        const all = domains.filter((d) => hit(d.DomainName));
        return page(query, 'Domains', 'Domain', all, 100);
      }
      case 'DescribeDomainInfo': {
        if (!domain) return no('InvalidDomainName.NoExist', 'The specified domain name does not exist.');
        const RecordLine = [
          { LineCode: 'default', LineName: '默认', LineDisplayName: 'Default' },
          { LineCode: 'telecom', LineName: '电信', LineDisplayName: 'China Telecom' },
          { LineCode: 'cn_telecom_beijing', LineName: '北京', LineDisplayName: 'Beijing', FatherCode: 'telecom' },
        ];
        const details = { RecordLines: { RecordLine }, MinTtl: 600 };
        return ok({ ...domain, VersionName: 'Free', ...(query.NeedDetailAttributes === 'true' ? details : {}) });
      }
      case 'DescribeDomainRecords': {
        if (!domain) return no('InvalidDomainName.NoExist', 'The specified domain name does not exist.');
        const held = domain.DomainName === 'contract.example' ? records.toReversed() : [];
        const hit = (r: AliyunRecord) =>
          r.RR.includes(query.RRKeyWord ?? '') && (!query.TypeKeyWord || r.Type === query.TypeKeyWord);
        return page(query, 'DomainRecords', 'Record', held.filter(hit), 500);
      }
      case 'DescribeDomainRecordInfo': {
        if (!known) return no('DomainRecordNotBelongToUser', 'The domain record does not belong to this user.');
        const { Weight: _, ...rest } = known;
        return ok({
          ...rest,
          Status: known.Status === 'ENABLE' ? 'Enable' : 'Disable',
          DomainName: 'contract.example',
        });
      }
      case 'AddDomainRecord': {
        if (domain?.DomainName !== 'contract.example') return no('IncorrectDomainUser');
        ids += 4096n;
        const RecordId = String(ids);
        const made = { RecordId, ...fields(query), Status: 'ENABLE', Locked: false, Weight: 1 };
        const why = wrong(made);
        if (why) return why;
        records.push(made);
        return ok({ RecordId });
      }
    }
    if (!known) return no('DomainRecordNotBelongToUser', 'The domain record does not belong to this user.');
    const { RecordId } = known;
    switch (query.Action) {
      case 'UpdateDomainRecord': {
        const { Status, Locked, Weight, Remark } = known;
        const made = { RecordId, ...fields(query), Status, Locked, Weight, ...(Remark ? { Remark } : {}) };
        const before = JSON.stringify(Object.entries(known).sort());
        if (before === JSON.stringify(Object.entries(made).sort())) return no('DomainRecordDuplicate');
        const why = wrong(made);
        if (why) return why;
        records[records.indexOf(known)] = made;
        return ok({ RecordId });
      }
      case 'SetDomainRecordStatus':
        if (!/^(Enable|Disable)$/.test(query.Status ?? '')) return no('InvalidStatus');
        known.Status = (query.Status as string).toUpperCase();
        return ok({ RecordId, Status: query.Status });
      case 'UpdateDomainRecordRemark':
        known.Remark = query.Remark ?? '';
        return ok({});
      case 'DeleteDomainRecord':
        records.splice(records.indexOf(known), 1);
        return ok({ RecordId });
      default:
        return no('InvalidAction.NotFound', 'Specified api is not found.', 404);
    }
  };
  return Object.assign(await startStandIn(answer), { records, most });
}
