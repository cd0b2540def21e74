import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

/** A record as the API holds it. */
export interface HeldRecord {
  id: number;
  hostRecord: string;
  hostValue: string;
  type: string;
  ttl: number;
  viewValue: number[];
  mxPriority: number;
  port: number;
  weight: number;
  jcloudRes: boolean;
  resolvingStatus: string;
}

const TYPES = ['A', 'AAAA', 'CNAME', 'MX', 'TXT', 'NS', 'SRV', 'CAA'];
const BASE = '/domain';

/** What the API does (documentation of v2, sample answers of lego): all answers have an error, of code 0 if well. */
export async function startJdcloud(): Promise<StandIn & { records: HeldRecord[]; most: { page: number } }> {
  const most = { page: 99 };
  const records: HeldRecord[] = [];
  let ids = 12345;
  const ok = (result: object = {}): Answer => ({
    body: { requestId: 'azerty', error: { code: 0, status: '', message: '' }, result },
  });
  const no = (code: number, status: string, message: string): Answer => ({
    status: code,
    body: { requestId: 'azerty', error: { code, status, message } },
  });
  function wrong(made: HeldRecord, own?: HeldRecord): Answer | null {
    const bad = (words: string) => no(400, 'INVALID_ARGUMENT', words);
    const { type, hostValue, ttl, mxPriority, viewValue, weight } = made;
    if (!TYPES.includes(type) || !made.hostRecord || typeof hostValue !== 'string') return bad('parameter');
    if (!(ttl >= 1 && ttl <= 86400)) return bad('ttl');
    if (!viewValue.every((view) => [-1, 1, 2, 7].includes(view))) return bad('viewValue');
    if (['MX', 'SRV'].includes(type) && !(mxPriority >= 0)) return bad('mxPriority');
    if (type === 'SRV' && !(made.port >= 0 && weight >= 0 && !hostValue.includes(' '))) return bad('port');
    if (type !== 'SRV' && weight > 100) return bad('weight');
    const beside = records.filter(
      (r) => r !== own && r.hostRecord === made.hostRecord && `${r.viewValue}` === `${viewValue}`,
    );
    const same = (r: HeldRecord) =>
      r.type === type && r.hostValue === hostValue && r.mxPriority === mxPriority && r.port === made.port;
    if (beside.some(same)) return bad('record exists');
    const clash = beside.length && (type === 'CNAME' || beside.some((r) => r.type === 'CNAME'));
    return clash ? bad('record conflicts') : null;
  }

  const standIn = await startStandIn(({ method, path, query, headers, body }) => {
    const form =
      /^JDCLOUD2-HMAC-SHA256 Credential=(\w+)\/\d{8}\/cn-north-1\/domainservice\/jdcloud2_request, SignedHeaders=content-type;host;x-jdcloud-date;x-jdcloud-nonce, Signature=[0-9a-f]{64}$/;
    const [, key] = form.exec(headers.authorization ?? '') ?? [];
    if (key !== 'AKEXAMPLE' || !/^\d{8}T\d{6}Z$/.test(`${headers['x-jdcloud-date']}`) || !headers['x-jdcloud-nonce']) {
      return no(401, 'UNAUTHENTICATED', 'the access key is not valid');
    }
    const page = (all: unknown[]): Answer => {
      const size = Math.min(Number(query.pageSize ?? 10), most.page);
      const at = (Number(query.pageNumber ?? 1) - 1) * size;
      const dataList = all.slice(at, at + size);
      const totalPage = Math.ceil(all.length / size);
      return ok({ dataList, currentCount: dataList.length, totalCount: all.length, totalPage });
    };
    if (path === BASE) {
      const names = ['not-contract.example', 'contract.example', '例子.example'];
      const all = names.map((domainName, i) => ({ id: 10 + i, domainName, packId: i, packName: `pack ${i}` }));
      const hit = (z: { id: number; domainName: string }) =>
        z.domainName.includes(query.domainName ?? '') && (!query.domainId || `${z.id}` === query.domainId);
      return page(all.filter(hit));
    }
    const [, zone, , id, status] =
      /^\/domain\/(\d+)\/(ResourceRecord|viewTree)(?:\/(\d+))?(\/status)?$/.exec(path) ?? [];
    if (zone !== '11') return no(404, 'NOT_FOUND', 'domain not found');
    if (path.endsWith('/viewTree')) {
      const children = [{ value: 7, label: 'Beijing', disabled: false, leaf: true, viewName: 'bj' }];
      const telecom = { value: 1, label: 'Telecom', disabled: false, leaf: false, viewName: 'ct', children };
      const all = { value: -1, label: 'Default', disabled: false, leaf: true, viewName: 'default' };
      const off = { value: 9, label: 'Not in this plan', disabled: true, leaf: true, viewName: 'x' };
      return query.packId === '1' ? ok({ data: [all, telecom, off] }) : no(400, 'INVALID_ARGUMENT', 'packId');
    }
    // a search for parts of host records
    if (method === 'GET') return page(records.filter((r) => r.hostRecord.includes(query.search ?? '')));
    const found = records.find((r) => `${r.id}` === id);
    // what is not there is refused in words of its own
    if (id && !found) return no(400, 'INVALID_ARGUMENT', 'resource record does not belong to the domain');
    if (method === 'DELETE') {
      records.splice(records.indexOf(found as HeldRecord), 1);
      return ok();
    }
    if (status) {
      const { action } = body as { action: string };
      if (!['enable', 'disable'].includes(action)) return no(400, 'INVALID_ARGUMENT', 'action');
      (found as HeldRecord).resolvingStatus = action === 'enable' ? '2' : '4';
      return ok();
    }
    const { req } = body as {
      req: Partial<Omit<HeldRecord, 'viewValue'>> & { viewValue: number; domainName?: string };
    };
    if (found && req.domainName !== 'contract.example') return no(400, 'INVALID_ARGUMENT', 'domainName');
    const { domainName: _name, viewValue, ...rest } = req;
    const base = { id: found?.id ?? ids++, hostRecord: '', hostValue: '', type: '', ttl: 0, mxPriority: 0, port: 0 };
    const state = { weight: 0, jcloudRes: false, resolvingStatus: found?.resolvingStatus ?? '2' };
    const made: HeldRecord = { ...base, ...state, ...rest, viewValue: [viewValue] };
    const why = wrong(made, found);
    if (why) return why;
    if (found) Object.assign(found, made);
    else records.push(made);
    return ok(found ? {} : { dataList: made });
  });
  return Object.assign(standIn, { records, most });
}
