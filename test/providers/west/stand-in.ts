import { createHash } from 'node:crypto';
import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

export interface StoredWest {
  id: number;
  item: string;
  type: string;
  value: string;
  line: string;
  ttl: number;
  level: number;
  pause: number;
}

/** All characters of two bytes in GBK, which Node reads and does not write. */
const GBK = new Map<string, Buffer>();
for (let first = 0x81; first <= 0xfe; first++)
  for (let second = 0x40; second <= 0xfe; second++) {
    const bytes = Buffer.from([first, second]);
    const text = new TextDecoder('gbk').decode(bytes);
    if (text.length === 1 && text !== '\ufffd') GBK.set(text, bytes);
  }
export const gbk = (body: unknown): Buffer =>
  Buffer.concat([...JSON.stringify(body)].map((c) => (c < '\x80' ? Buffer.from(c) : (GBK.get(c) as Buffer))));

/** What the API does (samples of lego, dnsmgr): a form, a token of user, password and time, answers in GBK. */
export async function startWest(): Promise<
  StandIn & { records: StoredWest[]; domains: string[]; most: { page: number } }
> {
  const zone = 'contract.example';
  const domains = [zone];
  const records: StoredWest[] = [];
  const most = { page: 100 };
  let ids = 123456;
  const yes = (data?: unknown): Answer => ({
    body: gbk({ result: 200, clientid: '54880064508339547956', ...(data !== undefined && { data }) }),
  });
  const no = (msg: string, errcode = 20000): Answer => ({
    body: gbk({ result: 500, clientid: '54880064508339547956', msg, errcode }),
  });

  /** Fields of a form over those of a record; a text: what is wrong with them. */
  function read(form: URLSearchParams, old: StoredWest): StoredWest | string {
    const [value, ttl, line] = [form.get('value'), Number(form.get('ttl')), form.get('line') ?? ''];
    if (!value) return '解析值不能为空';
    if (!Number.isInteger(ttl) || ttl < 60) return 'TTL错误';
    if (!['', 'LTEL', 'LCNC', 'LMOB', 'LEDU', 'LSEO', 'LFOR'].includes(line)) return '线路错误';
    const made = { ...old, value, ttl, line, level: Number(form.get('level') ?? 10) };
    const beside = records.filter((r) => r.id !== made.id && r.item === made.item && r.line === made.line);
    if (beside.some((r) => r.type === made.type && r.value === value && (r.type !== 'MX' || r.level === made.level)))
      return '记录已存在';
    const clash = made.type === 'CNAME' ? beside.length : beside.some((r) => r.type === 'CNAME');
    return clash ? '与其他记录冲突' : made;
  }

  const standIn = await startStandIn(({ method, path, query, headers, body }) => {
    if (method !== 'POST' || path !== '/domain/') return { status: 404 };
    if (!String(headers['content-type']).startsWith('application/x-www-form-urlencoded')) return { status: 415 };
    const form = new URLSearchParams(String(body));
    const [user, time, token] = ['username', 'time', 'token'].map((name) => form.get(name));
    if (!user || !time || !token) return no('username,time,token必传', 10000);
    const expected = createHash('md5').update(`ada${'a-password'}${time}`).digest('hex');
    if (user !== 'ada' || token !== expected || form.has('api_password')) return no('token验证失败', 10001);
    if (Math.abs(Number(time) - Date.now()) > 600_000) return no('time已过期', 10002);
    const page = <T>(all: T[], name: string): Answer => {
      const size = Math.min(most.page, Number(form.get('limit') ?? 20));
      const at = (Number(form.get(name) ?? 1) - 1) * size;
      return yes({ items: all.slice(at, at + size), total: all.length, limit: size });
    };
    const named = domains.filter((domain) => domain.includes(form.get('domain') ?? ''));
    if (query.act === 'getdomains')
      return page(
        named.map((domain) => ({ domain, expdate: '2027-05-01' })),
        'page',
      );
    if (form.get('domain') !== zone) return no('域名不存在');
    if (query.act === 'getdnsrecord') return page(records, 'pageno');
    const [type, item] = [form.get('type') ?? '', form.get('host') ?? ''];
    if (query.act === 'adddnsrecord') {
      if (!['A', 'AAAA', 'CNAME', 'MX', 'TXT', 'SRV'].includes(type) || !item) return no('参数错误');
      const made = read(form, { id: ids, item, type, value: '', line: '', ttl: 0, level: 10, pause: 0 });
      if (typeof made === 'string') return no(made);
      ids++;
      records.push(made);
      return yes({ id: made.id });
    }
    const old = records.find((r) => r.id === Number(form.get('id')));
    if (!old) return no('记录不存在');
    if (query.act === 'deldnsrecord') {
      records.splice(records.indexOf(old), 1);
      return yes();
    }
    if (query.act === 'pause') {
      old.pause = Number(form.get('val'));
      return yes();
    }
    if (query.act !== 'moddnsrecord') return no('act错误');
    const made = read(form, old);
    if (typeof made === 'string') return no(made);
    Object.assign(old, made);
    return yes();
  });
  return Object.assign(standIn, { records, domains, most });
}
