import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

interface InwxRecord {
  id: number;
  name: string;
  type: string;
  content: string;
  ttl: number;
  prio: number;
}
interface World {
  records: InwxRecord[];
  domains: string[];
  page: number;
  logins: number;
  sessions: string[];
  /** those that a second factor has unlocked */
  open: string[];
  tfa: string;
  tan: string | null;
  /** codes that were taken */
  tans: string[];
  /** calls that the user has no right to, with the code that says so */
  barred: Record<string, number>;
}
type Params = Partial<InwxRecord> & Record<string, unknown>;

/** INWX's JSON-RPC as its traffic of 2018 (in XML) and dnscontrol have it: a cookie, codes with a status of 200. */
export async function startInwx(): Promise<StandIn & { world: World }> {
  const world: World = {
    ...{
      records: [],
      domains: ['contract.example'],
      page: 20,
      logins: 0,
      sessions: [],
      open: [],
      tfa: '0',
      tan: null,
      tans: [],
      barred: {},
    },
  };
  let ids = 16_716;
  const say = (code: number, msg: string, resData?: unknown, reason?: string): Answer => ({
    body: { code, msg, resData, reason, runtime: 0.07 },
  });
  const ok = (resData?: unknown) => say(1000, 'Command completed successfully', resData);
  const wrong = (made: InwxRecord): Answer | null => {
    const beside = world.records.filter((r) => r.name === made.name && r.id !== made.id);
    const same = (r: InwxRecord) => r.type === made.type && r.content === made.content && r.prio === made.prio;
    if (beside.some(same)) return say(2302, 'Object exists');
    const bad = made.type === 'TXT' ? /`|\s$|^[\s\S]{255}$/ : /\.$/;
    if (made.ttl < 300 || !made.content || bad.test(made.content)) return say(2005, 'Parameter value syntax error');
    const alone = made.type === 'CNAME' ? beside.length > 0 : beside.some((r) => r.type === 'CNAME');
    return alone ? say(2308, 'Data management policy violation') : null;
  };
  const standIn = await startStandIn(({ method: verb, path, headers, body }) => {
    const { method, params } = body as { method: string; params: Params };
    if (verb !== 'POST' || path !== '/') return { status: 404 };
    if (method === 'account.login') {
      if (params.user !== 'ada' || params.pass !== 'a-pass') return say(2200, 'Authentication error');
      const session = `domrobot=session${++world.logins}`;
      world.sessions.push(session);
      world.tan = null;
      const cookie = { 'set-cookie': `${session}; path=/; secure; HttpOnly` };
      return { ...ok({ customerId: 1, tfa: world.tfa }), headers: cookie };
    }
    if (!world.sessions.includes(headers.cookie ?? '')) return say(2200, 'Authentication error');
    if (method === 'account.unlock') {
      world.tan = String(params.tan);
      const isGood = /^\d{6}$/.test(world.tan) && !world.tans.includes(world.tan);
      if (!isGood) return say(2200, 'Authentication error', undefined, 'The confirmation code is invalid.');
      world.tans.push(world.tan);
      world.open.push(headers.cookie ?? '');
      return ok();
    }
    if (world.tfa !== '0' && !world.open.includes(headers.cookie ?? '')) return say(2202, 'Account is locked');
    const barred = world.barred[method];
    if (barred) return say(barred, 'Authorization error');
    if (method === 'nameserver.list') {
      const [page, size] = [Number(params.page), Math.min(world.page, Number(params.pagelimit))];
      const all = world.domains.map((domain, roId) => ({ roId, domain, type: 'MASTER' }));
      return ok({ count: all.length, domains: all.slice((page - 1) * size, page * size) });
    }
    if (method === 'domain.info')
      return params.domain === 'contract.example'
        ? ok({ domain: params.domain, exDate: { scalar: '2027-09-18T15:45:59+00:00', xmlrpc_type: 'datetime' } })
        : say(2303, 'Object does not exist');
    const at = world.records.findIndex((r) => r.id === params.id);
    if (method === 'nameserver.deleteRecord' || method === 'nameserver.updateRecord') {
      const old = world.records[at];
      if (!old) return say(2303, 'Object does not exist');
      if (method === 'nameserver.deleteRecord') world.records.splice(at, 1);
      else {
        const made = { ...old, ...params } as InwxRecord;
        const why = wrong(made);
        if (why) return why;
        world.records[at] = made;
      }
      return ok();
    }
    if (params.domain !== 'contract.example') return say(2303, 'Object does not exist');
    if (method === 'nameserver.info') {
      const hit = (r: InwxRecord) =>
        (!params.type || r.type === params.type) && (!params.name || r.name === params.name);
      const record = world.records.filter(hit);
      const head = { roId: 2238, domain: params.domain, type: 'MASTER', cleanup: { status: 'OK', tstamp: 0 } };
      return ok(record.length ? { ...head, count: record.length, record } : head);
    }
    const { name = '', type = '', content = '', ttl = 3600, prio = 0 } = params;
    const made = { id: ids, name, type, content, ttl, prio };
    const why = wrong(made);
    if (why) return why;
    ids++;
    world.records.push(made);
    return ok({ id: made.id });
  });
  return Object.assign(standIn, { world });
}
