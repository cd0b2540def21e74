import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

/** A record as the API holds it. */
export interface HeldRecord {
  record_id: number;
  host: string;
  type: string;
  TTL: number;
  value: string;
  line: string;
  level: number;
}

/** What the API does, as far as sample answers of lego and descriptions of other clients tell. */
export async function startRainyun(): Promise<StandIn & { records: HeldRecord[]; most: { page: number } }> {
  const most = { page: 100 };
  const records: HeldRecord[] = [];
  let ids = 1;
  const ok = (data?: object): Answer => ({ body: { code: 0, ...(data && { data }) } });
  const no = (status: number, code: number, message: string): Answer => ({ status, body: { code, message } });
  function wrong(made: HeldRecord, own?: HeldRecord): Answer | null {
    if (!['A', 'AAAA', 'CNAME', 'MX', 'TXT'].includes(made.type)) return no(400, 30002, '类型');
    if (!made.host || typeof made.value !== 'string' || !(made.TTL >= 600)) return no(400, 30002, '参数错误');
    const beside = records.filter((r) => r !== own && r.host === made.host && r.line === made.line);
    const same = (r: HeldRecord) => r.type === made.type && r.value === made.value && r.level === made.level;
    if (beside.some(same)) return no(400, 30010, '记录已存在');
    const clash = beside.length && (made.type === 'CNAME' || beside.some((r) => r.type === 'CNAME'));
    return clash ? no(400, 30011, '记录冲突') : null;
  }

  const standIn = await startStandIn(({ method, path, query, headers, body }) => {
    if (headers['x-api-key'] !== 'a-key') return no(403, 30039, '密钥认证错误或已失效');
    const page = (all: object[], number: number, perPage: number): Answer => {
      const size = Math.min(perPage, most.page);
      return ok({ TotalRecords: all.length, Records: all.slice((number - 1) * size, number * size) });
    };
    if (path === '/domain') {
      const { page: number, perPage } = JSON.parse(query.options ?? '{}') as { page: number; perPage: number };
      const names = ['not-contract.example', 'contract.example', '例子.example'];
      return page(
        names.map((domain, i) => ({ id: 122 + i, domain })),
        number,
        perPage,
      );
    }
    if (path !== '/domain/123/dns') return no(404, 30004, '域名不存在');
    if (method === 'GET') return page(records, Number(query.page_no ?? 1), Number(query.limit ?? 10));
    const { ttl, ...given } = (body ?? {}) as Partial<HeldRecord> & { ttl?: number };
    const id = Number(query.record_id ?? given.record_id ?? 0);
    const found = records.find((r) => r.record_id === id);
    if (method !== 'POST' && !found) return no(400, 30002, '记录不存在');
    if (method === 'DELETE') {
      records.splice(records.indexOf(found as HeldRecord), 1);
      return ok();
    }
    const base = { record_id: found?.record_id ?? ids++, host: '', type: '', value: '', line: 'DEFAULT', level: 0 };
    const made: HeldRecord = { ...base, ...found, ...given, TTL: ttl ?? found?.TTL ?? 600 };
    if (found && (made.host !== found.host || made.type !== found.type)) return no(400, 30002, '不能修改');
    const why = wrong(made, found);
    if (why) return why;
    if (found) Object.assign(found, made);
    else records.push(made);
    return ok();
  });
  return Object.assign(standIn, { records, most });
}
