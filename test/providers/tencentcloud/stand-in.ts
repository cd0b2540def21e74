import { createHash, createHmac } from 'node:crypto';
import { type Answer, type Received, type StandIn, startStandIn } from '../../support/vendor.js';
import { dnspodZone, type Kept, LINES, type Refusal } from '../dnspod/zone-stand-in.js';

export const KEY = { id: 'AKID-stand-in', secret: 'a-secret-of-the-stand-in' };

const sha = (text: string) => createHash('sha256').update(text).digest('hex');
const mac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();

/**
 * Whether the request is signed by the steps of the vendor's documentation: null, or the code of what is wrong. The
 * body is signed as the text that JSON has, which is what clients send.
 */
export function refusedSignature({ method, path, headers, body }: Received, service: string): string | null {
  const pattern =
    /^TC3-HMAC-SHA256 Credential=([^/]+)\/([\d-]+)\/(\w+)\/tc3_request, SignedHeaders=([^,]+), Signature=(\w+)$/;
  const [, id, date = '', named, signed = '', signature] = pattern.exec(headers.authorization ?? '') ?? [];
  if (!id) return 'AuthFailure.InvalidAuthorization';
  if (id !== KEY.id) return 'AuthFailure.SecretIdNotFound';
  const stamp = String(headers['x-tc-timestamp']);
  const day = new Date(Number(stamp) * 1000).toISOString().slice(0, 10);
  if (Math.abs(Date.now() / 1000 - Number(stamp)) > 300 || day !== date) return 'AuthFailure.SignatureExpire';
  const lines = signed.split(';').map((name) => `${name}:${String(headers[name]).toLowerCase()}\n`);
  const text = [method, path, '', lines.join(''), signed, sha(JSON.stringify(body))].join('\n');
  const scope = `${date}/${service}/tc3_request`;
  const key = mac(mac(mac(`TC3${KEY.secret}`, date), service), 'tc3_request');
  const right = mac(key, `TC3-HMAC-SHA256\n${stamp}\n${scope}\n${sha(text)}`).toString('hex');
  return named === service && right === signature ? null : 'AuthFailure.SignatureFailure';
}

const CODES: Record<Refusal, string> = {
  exists: 'InvalidParameter.DomainRecordExist',
  conflict: 'InvalidParameter.OperateFailed',
  value: 'InvalidParameter.RecordValueInvalid',
  line: 'InvalidParameter.RecordLineInvalid',
  'no record': 'InvalidParameter.RecordIdInvalid',
  system: 'OperationDenied.SystemRecord',
  mx: 'InvalidParameter.MxInvalid',
  weight: 'InvalidParameter.InvalidWeight',
};

/** Tencent Cloud DNSPod by its official model and documentation: HTTP 200 for all, the error inside. */
export async function startTencentcloud() {
  const zone = dnspodZone();
  const most = { page: 3000 };
  const domains = [
    { DomainId: 1, Name: 'other.example', Punycode: 'other.example' },
    { DomainId: 2, Name: 'contract.example', Punycode: 'contract.example' },
    { DomainId: 3, Name: '例子.example', Punycode: 'xn--fsqu00a.example' },
  ];
  const ok = (body: object): Answer => ({ body: { Response: { ...body, RequestId: 'r' } } });
  const no = (Code: string, Message = `${Code}!`): Answer => ok({ Error: { Code, Message } });

  const listed = (r: Kept) => ({
    ...{ RecordId: r.id, Value: r.value, Status: r.enabled ? 'ENABLE' : 'DISABLE', UpdatedOn: '2021-03-31 11:38:02' },
    ...{ Name: r.name, Line: r.line, LineId: r.lineId, Type: r.type, Weight: r.weight, MonitorStatus: '' },
    ...{ Remark: r.remark, TTL: r.ttl, MX: r.mx, DefaultNS: r.system },
  });
  const one = (r: Kept) => ({
    ...{ Id: r.id, SubDomain: r.name, RecordType: r.type, RecordLine: r.line, RecordLineId: r.lineId, Value: r.value },
    ...{ Weight: r.weight, MX: r.mx, TTL: r.ttl, Enabled: r.enabled ? 1 : 0, MonitorStatus: '', Remark: r.remark },
  });
  /** What a write leaves out takes its default, also where a record is modified. */
  const fields = (b: Record<string, unknown>) => {
    const lineId = b.RecordLineId as string | undefined;
    const line = LINES.find(([id, name]) => (lineId === undefined ? name === b.RecordLine : id === lineId));
    return {
      ...{ name: String(b.SubDomain ?? '@'), type: String(b.RecordType), value: String(b.Value ?? '') },
      ...{ lineId: line?.[0] ?? '?', line: line?.[1] ?? '?', ttl: Number(b.TTL ?? 600), mx: Number(b.MX ?? 0) },
      ...{ weight: (b.Weight as number | undefined) ?? null, enabled: b.Status !== 'DISABLE' },
      remark: String(b.Remark ?? ''),
    };
  };
  const slice = <T>(b: Record<string, unknown>, all: T[], usual: number) => {
    const at = Number(b.Offset ?? 0);
    return all.slice(at, at + Math.min(Number(b.Limit ?? usual), most.page));
  };

  const answer = (request: Received): Answer => {
    const refused = refusedSignature(request, 'dnspod');
    if (refused) return no(refused, 'The provided credentials could not be validated.');
    if (request.headers['x-tc-version'] !== '2021-03-23') return no('NoSuchVersion');
    const b = request.body as Record<string, unknown>;
    const action = request.headers['x-tc-action'];
    if (action === 'DescribeDomainList') {
      if (!domains.length) return no('ResourceNotFound.NoDataOfDomain');
      const counts = 'Share Vip Pause Error Lock Spam ShareOut Group'.split(' ').map((name) => [`${name}Total`, 0]);
      const all = { DomainTotal: domains.length, AllTotal: domains.length, MineTotal: domains.length, VipExpire: 0 };
      const total = { ...all, ...Object.fromEntries(counts) };
      return ok({ DomainCountInfo: total, DomainList: slice(b, domains, 3000) });
    }
    const domain = domains.find(({ Name, Punycode }) => [Name, Punycode].includes(String(b.Domain)));
    if (!domain) return no('InvalidParameterValue.DomainNotExists', '当前域名有误，请返回重新操作。');
    const mine = domain.DomainId === 2;
    switch (action) {
      case 'DescribeDomain': {
        const { Name: Domain, ...rest } = domain;
        return ok({ DomainInfo: { ...rest, Domain, Grade: 'DP_FREE', GradeTitle: '免费版' } });
      }
      case 'DescribeRecordLineCategoryList': {
        const SubGroup = [{ LineName: '北京电信', LineId: '10=8', Useful: false, SubGroup: null }];
        const isp = { LineName: '运营商', LineId: null, Useful: true };
        const lines = LINES.slice(1).map(([LineId, LineName]) => ({ LineName, LineId, Useful: true, SubGroup }));
        return ok({
          LineList: [
            { LineName: '默认', LineId: '0', Useful: true },
            { ...isp, SubGroup: lines },
          ],
        });
      }
      case 'DescribeRecordList': {
        const hit = (r: Kept) =>
          mine && (!b.Subdomain || r.name === b.Subdomain) && (!b.RecordType || r.type === b.RecordType);
        const all = zone.records.filter(hit);
        if (!all.length && b.ErrorOnEmpty !== 'no') return no('ResourceNotFound.NoDataOfRecord', '记录列表为空。');
        const page = slice(b, all, 100).map(listed);
        const info = { SubdomainCount: all.length, ListCount: page.length, TotalCount: all.length };
        return ok({ RecordCountInfo: info, RecordList: page });
      }
      case 'CreateRecord': {
        if (!b.RecordLine) return no('MissingParameter');
        const made = zone.put(fields(b));
        return typeof made === 'string' ? no(CODES[made]) : ok({ RecordId: made.id });
      }
      case 'ModifyRecord': {
        if (!b.RecordLine) return no('MissingParameter');
        const made = zone.put(fields(b), b.RecordId);
        return typeof made === 'string' ? no(CODES[made]) : ok({ RecordId: made.id });
      }
      case 'DeleteRecord': {
        const why = zone.remove(b.RecordId);
        return why ? no(CODES[why]) : ok({});
      }
    }
    const known = typeof b.RecordId === 'number' ? zone.find(b.RecordId) : undefined;
    if (!known) return no('InvalidParameter.RecordIdInvalid', '记录编号错误。');
    switch (action) {
      case 'DescribeRecord':
        return ok({ RecordInfo: one(known) });
      case 'ModifyRecordStatus':
        known.enabled = b.Status === 'ENABLE';
        return ok({ RecordId: known.id });
      case 'ModifyRecordRemark':
        known.remark = String(b.Remark ?? '');
        return ok({});
      default:
        return no('InvalidAction');
    }
  };
  const standIn: StandIn = await startStandIn(answer);
  return Object.assign(standIn, { records: zone.records, most, domains });
}
