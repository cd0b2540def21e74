import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

export interface StoredDnsla {
  id: string;
  host: string;
  type: number;
  data: string;
  ttl: number;
  lineId: string;
  preference: number;
  weight: number;
  disable: boolean;
}

const KNOWN = [1, 2, 5, 15, 16, 28, 33, 256, 257];
const CNAME = 5;
const MX = 15;
export const ZONE_ID = '85369994254488576';

/** What the API does (samples of lego, dnsmgr): a status of 200 with a code, ids of 17 digits as texts. */
export async function startDnsla(): Promise<
  StandIn & { records: StoredDnsla[]; domains: { id: string; domain: string }[]; most: { page: number } }
> {
  const domains = [{ id: ZONE_ID, domain: 'contract.example.' }];
  const records: StoredDnsla[] = [];
  const most = { page: 512 };
  let ids = 85371689655342080n;
  const yes = (data: unknown = null): Answer => ({ body: { code: 200, msg: '', data } });
  const no = (code: number, msg: string): Answer => ({ body: { code, msg, data: null } });

  const clash = (made: StoredDnsla): string | null => {
    const beside = records.filter((r) => r.id !== made.id && r.host === made.host && r.lineId === made.lineId);
    const same = (r: StoredDnsla) => r.type === made.type && r.data === made.data && r.preference === made.preference;
    if (beside.some(same)) return '记录已存在';
    const cname = made.type === CNAME ? beside.length : beside.some((r) => r.type === CNAME);
    return cname ? '与CNAME记录冲突' : null;
  };
  /** Fields of a body over those of a record; a text: what is wrong with it. */
  function read(body: Partial<StoredDnsla>, old: StoredDnsla): StoredDnsla | string {
    const made = { ...old, ...body, id: old.id };
    delete (made as { domainId?: string }).domainId;
    if (!KNOWN.includes(made.type)) return '记录类型错误';
    if (!made.host || made.host.endsWith('.')) return '主机记录错误';
    if (typeof made.data !== 'string' || !Number.isInteger(made.ttl) || made.ttl < 1) return '参数错误';
    if (made.type === MX && !Number.isInteger(made.preference)) return '缺少优先级';
    return made;
  }

  const standIn = await startStandIn(({ method, path, query, headers, body }) => {
    const [scheme, credentials] = String(headers.authorization).split(' ');
    if (scheme !== 'Basic' || Buffer.from(String(credentials), 'base64').toString() !== 'an-id:a-secret')
      return { status: 401, body: { code: 401, msg: '认证失败' } };
    const page = <T>(all: T[]): Answer => {
      const size = Math.min(most.page, Number(query.pageSize ?? 10));
      const at = (Number(query.pageIndex ?? 1) - 1) * size;
      const results = all.slice(at, at + size);
      return yes({ total: all.length, results: results.length ? results : null });
    };
    const what = `${method} ${path}`;
    if (what === 'GET /api/domainList') return page(domains);
    if (what === 'GET /api/availableLine')
      return yes([
        { id: '0', pid: '', value: '默认', order: 1 },
        { id: '84613316902921216', pid: '0', value: '联通', order: 2 },
        { id: '84613316902921217', pid: '84613316902921216', value: '联通北京', order: 3 },
      ]);
    if (what === 'GET /api/dnsMeasures') return yes({ minTTL: 600 });
    if (what === 'GET /api/recordList') return query.domainId === ZONE_ID ? page(records) : no(500, '域名错误');
    const given = (body ?? {}) as Partial<StoredDnsla> & { domainId?: string };
    if (what === 'POST /api/record') {
      if (given.domainId !== ZONE_ID) return no(500, '域名错误');
      const fresh = { lineId: '', preference: 0, weight: 0, disable: false } as StoredDnsla;
      const made = read(given, { ...fresh, id: String(ids++) });
      if (typeof made === 'string') return no(400, made);
      const why = clash(made);
      if (why) return no(400, why);
      records.push(made);
      return yes({ id: made.id });
    }
    const old = records.find((r) => r.id === (given.id ?? query.id));
    if (!old) return no(500, '记录不存在');
    if (what === 'DELETE /api/record') {
      records.splice(records.indexOf(old), 1);
      return yes();
    }
    if (what === 'PUT /api/recordDisable') {
      old.disable = given.disable === true;
      return yes();
    }
    if (what !== 'PUT /api/record') return { status: 404 };
    const made = read(given, old);
    if (typeof made === 'string') return no(400, made);
    if (made.type !== old.type) return no(400, '记录类型错误');
    const why = clash(made);
    if (why) return no(400, why);
    Object.assign(old, made);
    return yes();
  });
  return Object.assign(standIn, { records, domains, most });
}
