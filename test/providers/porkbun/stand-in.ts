import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

export interface StoredRecord {
  id: string;
  name: string;
  type: string;
  content: string;
  ttl: string;
  prio: string | null;
  notes: string | null;
}

const ZONE = 'contract.example';
const TYPES = 'A AAAA ALIAS CAA CNAME HTTPS MX NS SRV SSHFP SVCB TLSA TXT'.split(' ');
const BUSY = '<html><head><title>503 Service Temporarily Unavailable</title></head></html>';

/**
 * What the API does (traffic of 2024; its documentation): keys in the body, names relative when sent and full in lists,
 * all values texts, dots at the end of targets dropped but for the root, empty texts and blanks at their end not kept.
 */
export async function startPorkbun(): Promise<
  StandIn & {
    records: StoredRecord[];
    domains: { domain: string; expireDate: string }[];
    most: { page: number };
    /** calls that are refused as too many */
    busy: { next: number };
  }
> {
  const records: StoredRecord[] = [];
  const domains = [{ domain: ZONE, expireDate: '2031-02-03 04:05:06' }];
  const most = { page: 1000 };
  const busy = { next: 0 };
  let ids = 432480875;
  const no = (message: string, status = 400): Answer => ({ status, body: { status: 'ERROR', message } });
  const yes = (more: object = {}): Answer => ({ body: { status: 'SUCCESS', ...more } });
  const cannot = { create: 'Create error: We were unable to create the DNS record.' };

  function stored(body: Record<string, unknown>, id: string, now?: StoredRecord): StoredRecord | string {
    const { name = '', type, content, ttl = '600', prio = '0', notes } = body as Record<string, string | undefined>;
    if (!type || !TYPES.includes(type)) return 'Invalid type passed.';
    if (typeof content !== 'string' || content.trim() === '') return 'Content is required.';
    if (Number(ttl) < 600) return 'TTL too low.';
    const named = ['CNAME', 'NS', 'MX', 'ALIAS', 'SRV'].includes(type);
    const kept = named ? content.replace(/(\S)\.$/, '$1') : content.trimEnd();
    // parameters are written without quotes, and a target that is no root absolute (dnscontrol 2026)
    if (/^(HTTPS|SVCB)$/.test(type) && !/^\d+ (\S+\.|\.)( [^"]+)?$/.test(content)) return 'Invalid content.';
    if (type === 'SSHFP' && !/^\d+ \d+ [0-9a-f]+$/i.test(content)) return 'Invalid content.';
    const full = name === '' ? ZONE : `${name}.${ZONE}`;
    const twin = records.find(
      (r) => r !== now && r.name === full && r.type === type && r.content === kept && r.prio === prio,
    );
    const beside = records.filter((r) => r !== now && r.name === full);
    if (twin || (beside.length && (type === 'CNAME' || beside.some((r) => r.type === 'CNAME')))) return 'unable';
    if (now && now.name === full && now.content === kept && now.ttl === ttl && now.prio === prio && notes === undefined)
      return 'unable';
    const kind = { type, content: kept, ttl, prio };
    return { id, name: full, ...kind, notes: notes === undefined ? (now?.notes ?? null) : notes || null };
  }

  const standIn = await startStandIn(({ method, path, body }) => {
    if (busy.next > 0) {
      busy.next--;
      return { status: 503, body: BUSY };
    }
    const { apikey, secretapikey, start, ...fields } = (body ?? {}) as Record<string, unknown>;
    if (method !== 'POST') return no('Invalid method.');
    if (apikey !== 'pk1_key' || secretapikey !== 'sk1_secret') return no('Invalid API key. (002)');
    if (path === '/ping') return yes({ yourIp: '192.0.2.1' });
    if (path === '/domain/listAll') {
      const from = Number(start ?? 0);
      return yes({ domains: domains.slice(from, from + most.page) });
    }
    const [, dns, verb = '', domain, id] = path.split('/').map(decodeURIComponent);
    if (dns !== 'dns' || domain !== ZONE) return no('Invalid domain.');
    if (verb === 'retrieve')
      return yes({ cloudflare: 'enabled', records: id ? records.filter((r) => r.id === id) : records });
    const now = records.find((r) => r.id === id);
    if (verb === 'create') {
      const made = stored(fields, String(ids++));
      if (typeof made === 'string') return no(made === 'unable' ? cannot.create : made);
      records.push(made);
      return yes({ id: Number(made.id) });
    }
    if (!now) return no(verb === 'edit' ? 'Edit error: We were unable to edit the DNS record.' : 'Invalid record ID.');
    if (verb === 'delete') {
      records.splice(records.indexOf(now), 1);
      return yes();
    }
    const next = stored(fields, now.id, now);
    if (typeof next === 'string')
      return no(next === 'unable' ? 'Edit error: We were unable to edit the DNS record.' : next);
    records[records.indexOf(now)] = next;
    return yes();
  });
  return Object.assign(standIn, { records, domains, most, busy });
}
