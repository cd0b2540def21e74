import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

export interface StoredSet {
  name: string;
  type: string;
  ttl: number;
  records: { content: string; is_disabled: boolean }[];
}
type Sent = { name: string; type: string; ttl?: number; records: { content: string }[] };

const ZONE = 'contract.example';
const TYPES = 'A AAAA CNAME ALIAS MX TXT NS SOA SRV CAA'.split(' ');
const NAMES = 'CNAME ALIAS MX NS SRV'.split(' ');

/** What the API does (OpenAPI 2026, samples of lego, errors told by clients of 2026): a write replaces a set. */
export async function startHostinger(): Promise<StandIn & { sets: StoredSet[]; domains: object[] }> {
  const on = (...contents: string[]) => contents.map((content) => ({ content, is_disabled: false }));
  const sets: StoredSet[] = [
    { name: '@', type: 'NS', ttl: 86400, records: on('ns1.dns-parking.com.', 'ns2.dns-parking.com.') },
    {
      name: '@',
      type: 'SOA',
      ttl: 600,
      records: on('ns1.dns-parking.com. dns.hostinger.com. 1 10000 2400 604800 600'),
    },
  ];
  const domains = [
    { id: 1, domain: ZONE, type: 'domain', status: 'active', created_at: '2025-02-27T11:54:22Z', expires_at: null },
    { id: 2, domain: null, type: 'free_domain', status: 'pending_setup', created_at: '2025-02-27T11:54:22Z' },
  ];
  const no = (status: number, message: string): Answer => ({
    status,
    body: { message, correlation_id: '26a91bd9-f8c8-4a83-9df9-83e23d696fe3' },
  });
  const done: Answer = { body: { message: 'Request accepted' } };
  const CONFLICT = '[DNS:4008] DNS resource record is not valid or conflicts with another resource record';

  function wrong({ name, type, ttl = 14400, records }: Sent): Answer | null {
    if (!TYPES.includes(type)) return no(422, 'The selected zone.0.type is invalid.');
    if (!Array.isArray(records) || !records.length) return no(422, 'The zone.0.records field is required.');
    if (ttl < 60) return no(422, '[DNS:4005] Resource record TTL must be at least 60 seconds!');
    if (name.endsWith('.') || name === '') return no(422, '[DNS:4005] The domain name is not valid');
    const contents = records.map(({ content }) => content);
    if (new Set(contents).size < contents.length) return no(422, CONFLICT);
    if (contents.some((content) => !content || (NAMES.includes(type) && !content.endsWith('.'))))
      return no(422, CONFLICT);
    // what is not quoted ends at a blank
    if (type === 'TXT' && contents.some((text) => !/^("(\\.|[^"\\]){0,1020}"( |$))+$|^[^\s"]+$/.test(text)))
      return no(422, CONFLICT);
    const beside = sets.filter((set) => set.name === name && set.type !== type);
    const clash = type === 'CNAME' ? beside.length > 0 || contents.length > 1 : beside.some((s) => s.type === 'CNAME');
    return clash ? no(422, CONFLICT) : null;
  }

  const standIn = await startStandIn(({ method, path, headers, body }) => {
    if (headers.authorization !== 'Bearer a-token') return no(401, 'Unauthenticated');
    if (path === '/api/domains/v1/portfolio') return { body: domains };
    const [, name] = /^\/api\/dns\/v1\/zones\/([^/]+)$/.exec(path) ?? [];
    if (!name) return no(404, 'Not found');
    if (name !== ZONE)
      return name.startsWith('absent')
        ? no(404, '[DNS:4009] Domain not found')
        : no(403, `[DNS:4002] Customer does not own ${name}`);
    if (method === 'GET') return { body: sets };
    const drop = (wanted: Pick<StoredSet, 'name' | 'type'>) => {
      const at = sets.findIndex((set) => set.name === wanted.name && set.type === wanted.type);
      if (at >= 0) sets.splice(at, 1);
    };
    if (method === 'DELETE') {
      for (const filter of (body as { filters: StoredSet[] }).filters) drop(filter);
      return done;
    }
    const { overwrite, zone } = body as { overwrite: boolean; zone: Sent[] };
    if (overwrite !== true) return no(422, 'this stand-in replaces sets');
    const why = zone.map(wrong).find(Boolean);
    if (why) return why;
    for (const { ttl = 14400, records, ...key } of zone) {
      drop(key);
      sets.push({ ...key, ttl, records: on(...records.map(({ content }) => content)) });
    }
    return done;
  });
  return Object.assign(standIn, { sets, domains });
}
