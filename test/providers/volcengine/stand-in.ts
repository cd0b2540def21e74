import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

/** A record as the API holds it. */
export interface HeldRecord {
  RecordID: string;
  Host: string;
  Type: string;
  Value: string;
  TTL: number;
  Line: string;
  Enable: boolean;
  Weight: number | null;
  Remark: string | null;
}

const ZID = 304092;
const LEAST_TTL = 300;
const LINES = ['default', 'telecom', 'unicom', 'mobile'];

/** What the API does (documentation of 2025, official model): one address, an action in the query, errors in a list. */
export async function startVolcengine(): Promise<StandIn & { records: HeldRecord[]; most: { page: number } }> {
  const most = { page: 500 };
  // longer than a number of JSON can hold
  let ids = 3170534137672596377n;
  const records: HeldRecord[] = [];
  const no = (status: number, Code: string, Message: string, CodeN = 400100): Answer => ({
    status,
    body: { ResponseMetadata: { RequestId: 'r', Error: { Code, CodeN, Message } } },
  });
  const ok = (Result: unknown): Answer => ({ body: { ResponseMetadata: { RequestId: 'r' }, Result } });

  /** Why it is refused, or null. */
  function wrong(made: HeldRecord, own?: HeldRecord): Answer | null {
    const { Type, Value, TTL, Line, Remark, Weight } = made;
    if (!made.Host) return no(400, 'ErrHostCanNotBeEmpty', "host can't be empty, use @ instead");
    if (TTL < LEAST_TTL) return no(400, 'ErrSpecNotValid', 'record TTL not valid when creating record');
    if (!LINES.includes(Line)) return no(400, 'ErrSpecNotValid', 'record Line not valid when creating record');
    if ([...(Remark ?? '')].length > 16) return no(400, 'ErrParamInvalid', 'validation fail: Remark');
    if (Weight !== null && (Weight < 0 || Weight > 100)) return no(400, 'ErrParamInvalid', 'validation fail: Weight');
    if (Type === 'MX' && !/^\d+ \S+$/.test(Value)) return no(400, 'ErrParamInvalid', 'validation fail: Value');
    if (Type === 'SRV' && !/^\d+ \d+ \d+ \S+$/.test(Value)) return no(400, 'ErrParamInvalid', 'validation fail: Value');
    const beside = records.filter((r) => r !== own && r.Host === made.Host && r.Line === made.Line);
    if (beside.some((r) => r.Type === Type && r.Value === Value))
      return no(409, 'ErrDBDuplicated', 'duplicated: record');
    if (beside.length && (Type === 'CNAME' || beside.some((r) => r.Type === 'CNAME'))) {
      return no(400, 'ErrRecordConflict', 'record conflicts with another one');
    }
    return null;
  }

  const standIn = await startStandIn(({ method, path, query, headers, body }) => {
    const scope =
      /^HMAC-SHA256 Credential=(\w+)\/\d{8}\/cn-beijing\/dns\/request, SignedHeaders=(\S+), Signature=[0-9a-f]{64}$/;
    const [, key, names] = scope.exec(headers.authorization ?? '') ?? [];
    if (key !== 'AKEXAMPLE') return no(401, 'InvalidAccessKey', 'The AccessKeyId is invalid.', 100009);
    const demanded = method === 'POST' ? ['host', 'x-content-sha256', 'x-date'] : ['host', 'x-date'];
    if (names !== demanded.join(';')) return no(401, 'SignatureDoesNotMatch', 'The signature does not match.', 100010);
    if (path !== '/' || query.Version !== '2018-08-01') return no(404, 'InvalidActionOrVersion', 'no such action');

    const page = (name: string, all: unknown[], total: string): Answer => {
      const size = Math.min(Number(query.PageSize ?? 10), most.page);
      const at = (Number(query.PageNumber ?? 1) - 1) * size;
      const some = all.slice(at, at + size);
      return ok({ [name]: some.length ? some : null, [total]: all.length });
    };
    const given = (body ?? {}) as Partial<HeldRecord> & { ZID?: number };
    const found = records.find((r) => r.RecordID === (query.RecordID ?? given.RecordID));
    const gone = no(400, 'ErrDBNotFound', 'record not found :record');
    const stranger = no(400, 'ErrZoneNotFound', 'zone not found', 400105);
    const zone = [query.ZID, String(given.ZID)].includes(String(ZID));
    const writes = ['CreateRecord', 'UpdateRecord', 'DeleteRecord', 'UpdateRecordStatus'];
    if (method !== (writes.includes(`${query.Action}`) ? 'POST' : 'GET')) return no(405, 'MethodNotAllowed', 'no');
    switch (query.Action) {
      case 'ListZones': {
        const all = [
          { ZID: 11, ZoneName: 'not-contract.example', TradeCode: 'free_inner' },
          { ZID, ZoneName: 'contract.example', TradeCode: 'professional_inner' },
          { ZID: 13, ZoneName: '例子.example', TradeCode: 'free_inner' },
        ];
        const word = query.Key ?? '';
        const hit = (name: string) => (query.SearchMode === 'exact' && word ? name === word : name.includes(word));
        return page(
          'Zones',
          all.filter((z) => hit(z.ZoneName)),
          'Total',
        );
      }
      case 'QueryZone':
        return zone ? ok({ ZoneName: 'contract.example', TradeCode: 'professional_inner' }) : stranger;
      case 'ListLines':
        return ok({
          Lines: [
            { Value: 'default', Name: '默认', FatherValue: '' },
            {
              Value: 'telecom',
              Name: '电信',
              Children: [{ Value: 'telecom.bj', Name: '北京', FatherValue: 'telecom' }],
            },
          ],
          TotalCount: 3,
        });
      case 'ListRecords': {
        if (!zone) return stranger;
        const like = (text: string, word = '') =>
          query.SearchMode === 'exact' && word ? text === word : text.includes(word);
        return page(
          'Records',
          records.filter((r) => like(r.Host, query.Host) && (!query.Type || r.Type === query.Type)),
          'TotalCount',
        );
      }
      case 'QueryRecord':
        return found ? ok(found) : gone;
      case 'CreateRecord': {
        if (!zone || typeof given.ZID !== 'number') return stranger;
        const { ZID: _zid, ...rest } = given;
        const base = {
          RecordID: String(ids++),
          Host: '',
          Type: '',
          Value: '',
          TTL: 600,
          Line: 'default',
          Enable: true,
        };
        const made: HeldRecord = { ...base, Weight: null, Remark: null, ...rest };
        const why = wrong(made);
        if (why) return why;
        records.push(made);
        return ok(made);
      }
      case 'UpdateRecord': {
        if (!found) return gone;
        if (!given.Host || !given.Line) return no(400, 'ErrParamInvalid', 'validation fail: Host, Line');
        const made = { ...found, ...given };
        const why = wrong(made, found);
        if (why) return why;
        Object.assign(found, made);
        return ok(found);
      }
      case 'DeleteRecord':
        if (!found) return gone;
        records.splice(records.indexOf(found), 1);
        return { body: { ResponseMetadata: { RequestId: 'r' } } };
      case 'UpdateRecordStatus':
        if (!found) return gone;
        found.Enable = given.Enable === true;
        return ok(found);
      default:
        return no(404, 'InvalidActionOrVersion', 'no such action');
    }
  });
  return Object.assign(standIn, { records, most });
}
