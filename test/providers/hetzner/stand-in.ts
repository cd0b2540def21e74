import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

export interface StoredSet {
  name: string;
  type: string;
  ttl: number | null;
  records: { value: string; comment?: string }[];
  labels?: Record<string, string>;
}

interface Job {
  id: number;
  command: string;
  status: 'running' | 'success' | 'error';
  error: { code: string; message: string } | null;
  looksLeft: number;
  run(): { code: string; message: string } | null;
}

export const ZONE_ID = 53091;
const ZONE = 'contract.example';
const TYPES = 'A AAAA CAA CNAME DS HINFO HTTPS MX NS PTR RP SOA SRV SVCB TLSA TXT'.split(' ');

/**
 * What the Cloud API does (traffic and OpenAPI of 2026): pages with `meta.pagination`, sets by name and type, each
 * write an action that takes effect when it is carried out, TXT in quoted strings, a TTL that may be left to the zone.
 */
export async function startHetzner(): Promise<
  StandIn & {
    sets: Map<string, StoredSet>;
    /** entries of a page at most; looks that the next actions run for; all zones */
    most: { page: number };
    looks: { next: (count: number) => number };
    zones: { id: number; name: string; mode: string; ttl: number }[];
  }
> {
  const sets = new Map<string, StoredSet>();
  const jobs = new Map<number, Job>();
  const most = { page: 100 };
  const looks = { next: (_count: number) => 0 };
  const zones = [{ id: ZONE_ID, name: ZONE, mode: 'primary', ttl: 86400 }];
  const servers = ['hydrogen.ns.hetzner.com.', 'oxygen.ns.hetzner.com.', 'helium.ns.hetzner.de.'];
  /** A zone with all that the API tells of it (recorded 2026). */
  const whole = (zone: (typeof zones)[number]) => ({
    ...{ ...zone, labels: {}, primary_nameservers: [], created: '2025-10-28T13:34:24Z' },
    ...{ protection: { delete: false }, status: 'ok', record_count: sets.size, registrar: 'hetzner' },
    authoritative_nameservers: {
      ...{ assigned: servers, delegated: servers },
      ...{ delegation_last_check: '2026-01-08T04:48:17Z', delegation_status: 'valid' },
    },
  });
  const no = (status: number, code: string, message: string): Answer => ({
    status,
    body: { error: { code, message, details: null } },
  });
  const shown = ({ id, command, status, error }: Job) => ({
    action: {
      ...{ id, command, status, error, progress: status === 'running' ? 50 : 100 },
      ...{ started: '2026-01-13T14:16:43Z', finished: status === 'running' ? null : '2026-01-13T14:16:45Z' },
      resources: [{ id: ZONE_ID, type: 'zone' }],
    },
  });
  const finish = (job: Job) => {
    job.error = job.run();
    job.status = job.error ? 'error' : 'success';
  };
  const start = (command: string, run: Job['run']): Answer => {
    const id = 604989101982000 + jobs.size;
    const job: Job = { id, command, status: 'running', error: null, looksLeft: looks.next(jobs.size), run };
    jobs.set(id, job);
    if (job.looksLeft === 0) finish(job);
    return { status: 201, body: shown(job) };
  };

  /** What the API finds wrong with a value; null when there is nothing. */
  const wrong = (type: string, value: unknown): string | null => {
    if (typeof value !== 'string' || value === '') return 'value is required';
    if (type !== 'TXT') return null;
    if (!/^"(?:[^"\\]|\\.)*"(?: "(?:[^"\\]|\\.)*")*$/.test(value)) return 'TXT must be quoted';
    const bytes = (text: string) => Buffer.byteLength(text.replace(/\\(\d{3}|.)/g, 'x'));
    const strings = value.match(/"(?:[^"\\]|\\.)*"/g) ?? [];
    return strings.some((s) => bytes(s.slice(1, -1)) > 255) ? 'a string is longer than 255' : null;
  };
  const clash = (name: string, type: string) => {
    const types = [...sets.values()].filter((set) => set.name === name && set.type !== type).map((set) => set.type);
    return types.includes('CNAME') || (type === 'CNAME' && types.length > 0);
  };

  function act(name: string, type: string, verb: string, body: Record<string, unknown>): Answer {
    const key = `${name}/${type}`;
    const set = sets.get(key);
    const { records = [], ttl } = body as Partial<StoredSet>;
    if (!set && verb !== 'add_records') return no(404, 'not_found', `RRSet ${key} not found`);
    if (verb === 'change_ttl') {
      if (ttl !== null && !(Number(ttl) >= 60)) return no(422, 'invalid_input', 'invalid input in field ttl');
      return start('change_rrset_ttl', () => {
        if (set) set.ttl = ttl ?? null;
        return null;
      });
    }
    if (records.length < 1 || records.length > 50) return no(422, 'invalid_input', 'invalid input in field records');
    const bad = records.map((r) => wrong(type, r.value)).find((words) => words !== null);
    if (bad) return no(422, 'invalid_input', `invalid input in field records: ${bad}`);
    const distinct = (list: StoredSet['records']) => new Set(list.map((r) => r.value)).size === list.length;
    const kept = records.map(({ value, comment = '' }) => ({ value, comment }));
    const failed = (message: string) => ({ code: 'action_failed', message });
    if (verb === 'add_records') {
      if (clash(name, type)) return no(422, 'invalid_input', `CNAME and other records at ${name}`);
      if (set && ttl !== undefined && ttl !== set.ttl) return no(422, 'invalid_input', 'the TTL is another one');
      if (!distinct([...(set?.records ?? []), ...kept])) return no(409, 'uniqueness_error', 'record exists already');
      return start('add_rrset_records', () => {
        const now = sets.get(key);
        if (now) now.records.push(...kept);
        else sets.set(key, { name, type, ttl: ttl ?? null, records: kept });
        return null;
      });
    }
    if (verb === 'set_records') {
      if (!distinct(kept)) return no(422, 'invalid_input', 'records must be distinct');
      return start('set_rrset_records', () => {
        if (set) set.records = kept;
        return null;
      });
    }
    if (verb !== 'remove_records') return no(404, 'not_found', 'not found');
    const values = records.map((r) => r.value);
    if (values.some((value) => !set?.records.some((r) => r.value === value)))
      return no(404, 'not_found', 'record not found');
    return start('remove_rrset_records', () => {
      if (!set) return failed('gone');
      set.records = set.records.filter((r) => !values.includes(r.value));
      if (!set.records.length) sets.delete(key);
      return null;
    });
  }

  const standIn = await startStandIn(({ method, path, query, headers, body }) => {
    if (headers.authorization !== 'Bearer a-token') return no(401, 'unauthorized', 'unable to authenticate');
    const page = <T>(key: string, all: T[], limit: number): Answer => {
      const size = Math.min(most.page, limit, Number(query.per_page ?? 25));
      const at = Number(query.page ?? 1);
      const last = Math.max(1, Math.ceil(all.length / size));
      const next_page = at < last ? at + 1 : null;
      const pagination = {
        page: at,
        per_page: size,
        previous_page: at > 1 ? at - 1 : null,
        next_page,
        last_page: last,
      };
      const entries = all.slice((at - 1) * size, at * size);
      return { body: { [key]: entries, meta: { pagination: { ...pagination, total_entries: all.length } } } };
    };
    if (path === '/zones')
      return page('zones', zones.filter((zone) => query.name === undefined || zone.name === query.name).map(whole), 50);
    const [, , id, what, name = '', type = '', , verb = ''] = path.split('/').map(decodeURIComponent);
    if (id === 'actions') {
      const job = jobs.get(Number(what));
      if (!job) return no(404, 'not_found', 'Action not found');
      if (job.status === 'running' && --job.looksLeft <= 0) finish(job);
      return { body: shown(job) };
    }
    const zone = zones.find((z) => String(z.id) === id || z.name === id);
    if (!zone) return no(404, 'not_found', 'Zone not found');
    if (!what) return { body: { zone: whole(zone) } };
    if (zone.mode !== 'primary') return no(422, 'incorrect_zone_mode', 'This operation is not supported');
    const shownSet = (set: StoredSet) => ({
      id: `${set.name}/${set.type}`,
      labels: {},
      ...set,
      protection: { change: false },
      zone: zone.id,
    });
    if (method === 'GET') {
      const soa = {
        name: '@',
        type: 'SOA',
        ttl: null,
        records: [{ value: 'hydrogen.ns.hetzner.com. dns.hetzner.com. 2026011546 86400 10800 3600000 3600' }],
      };
      const hit = (set: StoredSet) =>
        (query.name === undefined || set.name === query.name) && (query.type === undefined || set.type === query.type);
      return page('rrsets', [soa, ...sets.values()].filter(hit).map(shownSet), 100);
    }
    if (method === 'POST' && !name) {
      const { name: at, type: of, ttl = null, records, labels = {} } = body as StoredSet;
      const key = `${at}/${of}`;
      if (sets.has(key)) return no(409, 'uniqueness_error', 'RRSet exists already');
      const bad = records.map((r) => wrong(of, r.value)).find((words) => words !== null);
      if (bad) return no(422, 'invalid_input', `invalid input in field records: ${bad}`);
      const made = { name: at, type: of, ttl, records: records.map((one) => ({ comment: '', ...one })), labels };
      const { body: begun } = start('create_rrset', () => {
        sets.set(key, made);
        return null;
      });
      return { status: 201, body: { ...(begun as object), rrset: shownSet(made) } };
    }
    if (name !== name.toLowerCase() || name.endsWith(ZONE) || !TYPES.includes(type))
      return no(422, 'invalid_input', 'invalid input in field name');
    if (method !== 'POST' || verb === '') return no(404, 'not_found', 'not found');
    return act(name, type, verb, body as Record<string, unknown>);
  });
  return Object.assign(standIn, { sets, most, looks, zones });
}
