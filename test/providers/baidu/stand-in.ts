import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

/** A record as the API holds it. */
export interface HeldRecord {
  id: string;
  rr: string;
  type: string;
  value: string;
  ttl: number;
  line: string;
  status: string;
  priority: number | null;
  description: string;
}

/** What the API does (documentation of 2022, official model): creating answers nothing, updates take no line. */
export async function startBaidu(): Promise<StandIn & { records: HeldRecord[]; most: { page: number } }> {
  const most = { page: 1000 };
  const records: HeldRecord[] = [];
  let ids = 1;
  const no = (status: number, code: string, message: string): Answer => ({
    status,
    body: { requestId: 'a6a4be21', code, message },
  });
  function wrong(made: HeldRecord, own?: HeldRecord): Answer | null {
    const { type, value, priority } = made;
    if (!['A', 'CNAME', 'MX', 'TXT', 'NS', 'AAAA', 'SRV'].includes(type)) return no(400, 'InvalidParameter', 'type');
    if (!made.rr || typeof value !== 'string') return no(400, 'InvalidParameter', 'rr');
    if (type === 'MX' && !(priority !== null && priority >= 0 && priority <= 50))
      return no(400, 'InvalidParameter', 'mx');
    if (type === 'SRV' && !/^\d+ \d+ \d+ \S+$/.test(value)) return no(400, 'InvalidParameter', 'srv');
    const beside = records.filter((r) => r !== own && r.rr === made.rr && r.line === made.line);
    if (beside.some((r) => r.type === type && r.value === value && r.priority === priority)) {
      return no(409, 'RecordExisted', 'The record already exists.');
    }
    const clash = beside.length && (type === 'CNAME' || beside.some((r) => r.type === 'CNAME'));
    return clash ? no(409, 'RecordConflict', 'The record conflicts with another one.') : null;
  }

  const standIn = await startStandIn(({ method, path, query, headers, body }) => {
    const form = /^bce-auth-v1\/(\w+)\/(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)\/1800\/([a-z;-]+)\/[0-9a-f]{64}$/;
    const [, key, date, names = ''] = form.exec(headers.authorization ?? '') ?? [];
    if (key !== 'AKEXAMPLE') return no(403, 'InvalidAccessKeyId', 'The Access Key ID you provided does not exist.');
    const demanded = body === undefined ? ['host', 'x-bce-date'] : ['content-type', 'host', 'x-bce-date'];
    if (names !== demanded.join(';') || headers['x-bce-date'] !== date) {
      return no(400, 'SignatureDoesNotMatch', 'The request signature we calculated does not match.');
    }
    const page = (field: string, all: { id: string }[]): Answer => {
      const at = query.marker ? all.findIndex((one) => one.id === query.marker) : 0;
      const size = Math.min(Number(query.maxKeys ?? 1000), most.page);
      const next = all[at + size]?.id;
      const more = next ? { isTruncated: true, nextMarker: next } : { isTruncated: false };
      return { body: { marker: query.marker ?? '', maxKeys: size, [field]: all.slice(at, at + size), ...more } };
    };
    if (path === '/v1/dns/zone') {
      const all = ['not-contract.example', 'contract.example.', '例子.example'].map((name, i) => ({
        ...{ id: `zone-${i}`, name, status: 'running', productVersion: 'free' },
        ...{ createTime: '2022-01-01T00:00:00Z', expireTime: '', tags: [] },
      }));
      return page(
        'zones',
        all.filter(({ name }) => name.includes(query.name ?? '')),
      );
    }
    const [, zone, id] = /^\/v1\/dns\/zone\/([^/]+)\/record(?:\/(.+))?$/.exec(path) ?? [];
    if (zone !== 'contract.example') return no(404, 'NoSuchZone', 'The specified zone does not exist.');
    if (method === 'GET')
      return page(
        'records',
        records.filter((r) => !query.rr || r.rr.includes(query.rr)),
      );
    if (!/^[ -~]{1,64}$/.test(query.clientToken ?? '')) return no(400, 'InvalidParameter', 'clientToken');
    const found = records.find((r) => r.id === id);
    // what is not there is refused in words of its own
    if (id && !found) return no(400, 'InvalidParameter', 'recordId is invalid');
    const given = (body ?? {}) as Partial<HeldRecord>;
    if (found && 'line' in given) return no(400, 'InvalidParameter', 'line');
    if (method === 'DELETE') records.splice(records.indexOf(found as HeldRecord), 1);
    else if (found && 'enable' in query) found.status = 'running';
    else if (found && 'disable' in query) found.status = 'stopped';
    else {
      const base = { id: found?.id ?? `rc-${ids++}`, rr: '', type: '', value: '', ttl: 300, status: 'running' };
      const rest = { priority: null, description: '', ...given, line: found?.line ?? given.line ?? 'default' };
      const made: HeldRecord = { ...base, ...rest, status: found?.status ?? 'running' };
      const why = wrong(made, found);
      if (why) return why;
      if (found) Object.assign(found, made);
      else records.push(made);
    }
    return { status: 200 };
  });
  return Object.assign(standIn, { records, most });
}
