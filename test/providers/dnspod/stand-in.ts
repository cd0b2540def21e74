import { type Answer, type Received, type StandIn, startStandIn } from '../../support/vendor.js';
import { dnspodZone, type Kept, LINES, type Refusal } from './zone-stand-in.js';

export const LOGIN = { id: '12345', token: 'a-token-of-the-stand-in' };

const CODES: Record<Refusal, [string, string]> = {
  exists: ['104', 'Record already exists'],
  conflict: ['31', 'Records conflict'],
  value: ['34', 'Record value invalid'],
  line: ['26', 'Record line invalid'],
  'no record': ['8', 'Record id invalid'],
  system: ['21', 'Record locked'],
  mx: ['30', 'Mx invalid'],
  weight: ['4', 'Weight invalid'],
};

/** DNSPod's token API as recorded 2016 and documented: forms, HTTP 200 for all, JSON as text/html, values as texts. */
export async function startDnspod() {
  const zone = dnspodZone();
  const most = { page: 3000 };
  const domains = [
    { id: 1, name: 'other.example', punycode: 'other.example' },
    { id: 2, name: 'contract.example', punycode: 'contract.example' },
    { id: 3, name: '例子.example', punycode: 'xn--fsqu00a.example' },
  ];
  const say = (code: string, message: string, more = {}): Answer => ({
    headers: { 'content-type': 'text/html; charset=UTF-8' },
    body: JSON.stringify({ status: { code, message, created_at: '2016-05-11 02:55:53' }, ...more }),
  });
  const ok = (more = {}) => say('1', 'Action completed successful', more);
  const no = (why: Refusal) => say(...CODES[why]);
  const text = (value: number | null) => (value === null ? null : String(value));

  const listed = (r: Kept) => ({
    ...{
      id: String(r.id),
      name: r.name,
      line: r.line,
      line_id: r.lineId,
      type: r.type,
      ttl: text(r.ttl),
      value: r.value,
    },
    ...{
      weight: text(r.weight),
      mx: text(r.mx),
      enabled: r.enabled ? '1' : '0',
      status: r.enabled ? 'enabled' : 'disabled',
    },
    ...{ monitor_status: '', remark: r.remark, updated_on: '2016-05-11 02:35:23', use_aqb: 'no' },
    ...(r.system ? { hold: 'hold' } : {}),
  });
  const one = (r: Kept) => {
    const { name: sub_domain, line: record_line, line_id: record_line_id, type: record_type, ...rest } = listed(r);
    return { ...rest, sub_domain, record_line, record_line_id, record_type, domain_id: '2' };
  };
  /** What a write leaves out takes its default, also where a record is modified; the remark stays. */
  const fields = (b: Record<string, string>, remark = '') => {
    const line = LINES.find(([id, name]) =>
      b.record_line_id === undefined ? name === b.record_line : id === b.record_line_id,
    );
    return {
      ...{ name: b.sub_domain ?? '@', type: b.record_type ?? '', value: b.value ?? '', ttl: Number(b.ttl ?? 600) },
      ...{ lineId: line?.[0] ?? '?', line: line?.[1] ?? '?', mx: Number(b.mx ?? 0), remark },
      ...{ weight: b.weight === undefined ? null : Number(b.weight), enabled: b.status !== 'disable' },
    };
  };
  const slice = <T>(b: Record<string, string>, all: T[]) => {
    const at = Number(b.offset ?? 0);
    return all.slice(at, at + Math.min(Number(b.length ?? 3000), most.page));
  };

  const answer = ({ method, path, body }: Received): Answer => {
    if (method !== 'POST') return say('2', 'Only POST is allowed');
    const b = Object.fromEntries(new URLSearchParams(String(body)));
    if (!b.login_token?.includes(',')) return say('10001', 'The login token is invalid');
    const [id, token] = b.login_token.split(',');
    if (id !== LOGIN.id) return say('10002', 'The login token ID is invalid');
    if (token !== LOGIN.token) return say('-1', 'Login failed');
    const action = path.slice(1);
    if (action === 'Domain.List') {
      const counts = { domain_total: domains.length, all_total: domains.length };
      return ok({ info: counts, domains: slice(b, domains) });
    }
    const domain = domains.find(({ name, punycode }) => [name, punycode].includes(b.domain ?? ''));
    if (!domain) return say('13', 'Domain is not exists');
    const mine = domain.id === 2;
    if (action === 'Domain.Info') {
      return ok({
        domain: { ...domain, id: String(domain.id), grade: 'DP_Free', grade_title: '新免费套餐', ttl: '600' },
      });
    }
    if (action === 'Record.Line') {
      if (b.domain_grade !== 'DP_Free') return say('6', 'Domain grade invalid');
      const line_ids = Object.fromEntries(LINES.map(([line, name]) => [name, line === '0' ? 0 : line]));
      return ok({ line_ids, lines: LINES.map(([, name]) => name) });
    }
    if (action === 'Record.List') {
      const all = mine ? zone.records : [];
      const info = { sub_domains: String(all.length), record_total: String(all.length) };
      if (!all.length) return say('10', 'No records');
      return ok({ domain: { id: '2', name: domain.name }, info, records: slice(b, all).map(listed) });
    }
    if (action === 'Record.Create') {
      const made = zone.put(fields(b));
      if (typeof made === 'string') return no(made);
      return ok({ record: { id: String(made.id), name: made.name, status: 'enabled', weight: null } });
    }
    const known = zone.find(b.record_id);
    if (!known) return no('no record');
    switch (action) {
      case 'Record.Modify': {
        const made = zone.put(fields(b, known.remark), b.record_id);
        // the id is a number here (recorded)
        return typeof made === 'string'
          ? no(made)
          : ok({ record: { id: made.id, name: made.name, value: made.value } });
      }
      case 'Record.Info':
        return ok({ domain: { id: '2' }, record: one(known) });
      case 'Record.Status':
        if (known.system) return no('system');
        known.enabled = b.status === 'enable';
        return ok({ record: { id: known.id, name: known.name, status: b.status } });
      case 'Record.Remark':
        known.remark = b.remark ?? '';
        return ok();
      case 'Record.Remove': {
        const why = zone.remove(b.record_id);
        return why ? no(why) : ok();
      }
      default:
        return say('3', 'Unknown error');
    }
  };
  const standIn: StandIn = await startStandIn(answer);
  return Object.assign(standIn, { records: zone.records, most });
}
