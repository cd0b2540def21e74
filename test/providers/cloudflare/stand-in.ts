import { type Answer, type Received, type StandIn, startStandIn } from '../../support/vendor.js';

/** A record as the API answers it (recorded 2025; OpenAPI). */
interface CloudflareRecord {
  id: string;
  name: string;
  type: string;
  content: string;
  data?: Record<string, string | number>;
  priority?: number;
  proxied: boolean;
  proxiable: boolean;
  ttl: number;
  comment: string | null;
  tags: string[];
  settings: Record<string, boolean | null>;
  private_routing?: boolean;
  created_on: string;
  modified_on: string;
}

const ZONE = { id: '023e105f4ecef8ad9ca31a8372d0c353', name: 'contract.example' };
/** what else the API tells of a zone (recorded 2025) */
const ABOUT = {
  ...{ status: 'active', type: 'full', paused: false, development_mode: 0 },
  ...{ name_servers: ['ada.ns.cloudflare.com', 'bob.ns.cloudflare.com'], original_name_servers: null },
  ...{ original_registrar: null, original_dnshost: null, created_on: '2025-01-01T00:00:00.000000Z' },
  ...{
    modified_on: '2025-01-01T00:00:00.000000Z',
    activated_on: '2025-01-01T00:00:00.000000Z',
    vanity_name_servers: [],
  },
  ...{ meta: { step: 2, custom_certificate_quota: 0, page_rule_quota: 3, phishing_detected: false } },
  ...{ owner: { id: 'b'.repeat(32), type: 'user', name: 'Ada' }, account: { id: 'a'.repeat(32), name: 'Ada' } },
};
const TOKEN = 'a-token-for-the-tests';
const TYPES = [
  ...'A AAAA CAA CERT CNAME DNSKEY DS HTTPS LOC MX NAPTR NS OPENPGPKEY PTR SMIMEA SRV SSHFP SVCB'.split(' '),
  ...'TLSA TXT URI'.split(' '),
];
/** types whose value is sent in parts, and how the parts make the content (OpenAPI) */
const PARTS: Record<string, string[]> = {
  CAA: ['flags', 'tag', 'value'],
  SRV: ['priority', 'weight', 'port', 'target'],
  URI: ['weight', 'target'],
  HTTPS: ['priority', 'target', 'value'],
  SVCB: ['priority', 'target', 'value'],
  TLSA: ['usage', 'selector', 'matching_type', 'certificate'],
  SSHFP: ['algorithm', 'type', 'fingerprint'],
  DS: ['key_tag', 'algorithm', 'digest_type', 'digest'],
  DNSKEY: ['flags', 'protocol', 'algorithm', 'public_key'],
  SMIMEA: ['usage', 'selector', 'matching_type', 'certificate'],
};
const QUOTED: Record<string, string> = { CAA: 'value', URI: 'target' };

const ok = (result: unknown, more: object = {}): Answer => ({
  body: { success: true, errors: [], messages: [], result, ...more },
});
const no = (status: number, code: number, message: string): Answer => ({
  status,
  body: { success: false, errors: [{ code, message }], messages: [], result: null },
});

type Sent = Partial<CloudflareRecord>;

/** What is wrong with a record, as a code and words; null when nothing is. */
function wrong(r: CloudflareRecord): [number, string] | null {
  if (!TYPES.includes(r.type)) return [9000, 'DNS record type is invalid.'];
  if (!r.name.endsWith(ZONE.name)) return [9005, 'DNS name is not in the zone.'];
  if (r.ttl !== 1 && (r.ttl < 60 || r.ttl > 86400)) return [9021, 'TTL must be between 60 and 86400 seconds, or 1.'];
  if (r.type === 'A' && !/^\d+(\.\d+){3}$/.test(r.content))
    return [9005, 'Content for A record must be a valid IPv4 address.'];
  if (r.type === 'MX' && r.priority === undefined) return [9101, 'priority is a required field.'];
  const missing = PARTS[r.type]?.find(
    (part) => r.data?.[part] === undefined && !(r.type === 'URI' && part === 'priority'),
  );
  if (missing) return [9101, `${missing} is a required data field.`];
  if (r.type === 'URI' && r.priority === undefined) return [9101, 'priority is a required field.'];
  const settings = r.proxiable ? ['ipv4_only', 'ipv6_only', ...(r.type === 'CNAME' ? ['flatten_cname'] : [])] : [];
  if (Object.keys(r.settings).some((name) => !settings.includes(name))) return [9020, 'Invalid DNS record settings.'];
  if (r.proxied && !r.proxiable) return [9004, 'This record type cannot be proxied.'];
  return null;
}

/**
 * What the API does (OpenAPI 2024, traffic of 2025): pages of `most.page`, errors with codes, identical ones refused.
 */
export async function startCloudflareApi(): Promise<StandIn & { records: CloudflareRecord[]; most: { page: number } }> {
  const records: CloudflareRecord[] = [];
  const most = { page: 50_000 };
  let ids = 0;

  function page<T>({ query }: Received, all: T[], usual: number): Answer {
    const size = Math.min(most.page, Number(query.per_page ?? usual));
    const at = Number(query.page ?? 1);
    const some = all.slice((at - 1) * size, at * size);
    const total_pages = Math.ceil(all.length / size);
    const result_info = { page: at, per_page: size, count: some.length, total_count: all.length, total_pages };
    return ok(some, { result_info });
  }

  /** A record as it is kept: names without their final dot, the content in words. */
  function kept(sent: Sent, was: CloudflareRecord | undefined, now: string): CloudflareRecord {
    const type = sent.type ?? was?.type ?? '';
    const raw = sent.name ?? was?.name ?? '';
    const name = raw === '@' ? ZONE.name : raw.toLowerCase().replace(/\.$/, '');
    const proxied = sent.proxied ?? was?.proxied ?? false;
    const data = sent.data ?? was?.data;
    const priority = sent.priority ?? was?.priority ?? (type === 'SRV' ? Number(data?.priority) : undefined);
    let content = sent.content ?? was?.content ?? '';
    if (['CNAME', 'MX', 'NS', 'PTR'].includes(type)) content = content.toLowerCase().replace(/(.)\.$/, '$1');
    const parts = PARTS[type];
    if (parts && data) {
      const word = (part: string) => (QUOTED[type] === part ? `"${data[part]}"` : `${data[part]}`);
      content = parts
        .filter((part) => type !== 'SRV' || part !== 'priority')
        .map(word)
        .join(' ')
        .trim();
    }
    return {
      ...{ id: was?.id ?? (0x372e67954025e0ba6aaa6d586b9e0b59n + BigInt(ids++)).toString(16) },
      ...{ name, type, content, ...(parts && data ? { data } : {}) },
      ...(priority === undefined || !['MX', 'SRV', 'URI'].includes(type) ? {} : { priority }),
      ...{ proxied, proxiable: ['A', 'AAAA', 'CNAME'].includes(type), ttl: proxied ? 1 : (sent.ttl ?? was?.ttl ?? 1) },
      ...{ comment: sent.comment ?? was?.comment ?? null, tags: sent.tags ?? was?.tags ?? [] },
      settings: sent.settings ?? was?.settings ?? {},
      ...(sent.private_routing ? { private_routing: true } : {}),
      ...{ created_on: was?.created_on ?? now, modified_on: now },
    };
  }

  function clash(r: CloudflareRecord): [number, string] | null {
    const beside = records.filter((other) => other.id !== r.id && other.name === r.name);
    const same = (o: CloudflareRecord) => o.type === r.type && o.content === r.content && o.priority === r.priority;
    if (beside.some(same)) return [81058, 'An identical record already exists.'];
    const addresses = beside.filter((o) => ['A', 'AAAA', 'CNAME'].includes(o.type));
    if (r.type === 'CNAME' && addresses.length)
      return [81053, 'An A, AAAA, or CNAME record with that host already exists.'];
    if (['A', 'AAAA'].includes(r.type) && addresses.some((o) => o.type === 'CNAME'))
      return [81054, 'A CNAME record with that host already exists.'];
    return null;
  }

  const standIn = await startStandIn((request) => {
    const { method, path, query, headers, body } = request;
    const bearer = headers.authorization;
    if (!bearer && !headers['x-auth-key'])
      return no(400, 9106, 'Missing X-Auth-Key, X-Auth-Email or Authorization headers');
    if (bearer ? bearer !== `Bearer ${TOKEN}` : headers['x-auth-key'] !== 'k-123456')
      return no(403, 9109, 'Invalid access token');
    const [, zones, zoneId, part, id] = path.split('/');
    if (zones !== 'zones') return no(400, 7000, 'No route for that URI');
    if (zoneId === undefined) {
      const other = { id: '353c0d2738a13c9da8fece4f501e3320', name: `x${ZONE.name}` };
      const all = [ZONE, other].map((zone) => ({ ...zone, ...ABOUT }));
      return page(
        request,
        all.filter((zone) => !query.name || zone.name === query.name),
        20,
      );
    }
    if (zoneId !== ZONE.id || part !== 'dns_records') {
      return no(404, 7003, `Could not route to /zones/${zoneId}/${part}, perhaps your object identifier is invalid?`);
    }
    if (method === 'GET' && id === undefined) {
      const hit = (r: CloudflareRecord) =>
        (!query.name || r.name === query.name) &&
        (!query.type || r.type === query.type) &&
        (!query.content || r.content === query.content);
      return page(request, records.filter(hit), 100);
    }
    if (method === 'POST' && id === 'batch') return batch(body as Record<string, Sent[]>);
    return single(method, id, body);
  });

  /** Deletes, patches, puts, posts, each in their order: all of them, or none (documentation of 2024). */
  function batch(lists: Record<string, Sent[]>): Answer {
    const before = [...records];
    const result: Record<string, unknown[]> = {};
    if (Object.values(lists).flat().length > 200) return no(400, 9207, 'Too many changes for a free zone.');
    for (const [list, method] of Object.entries({ deletes: 'DELETE', patches: 'PATCH', puts: 'PUT', posts: 'POST' })) {
      for (const { id, ...sent } of lists[list] ?? []) {
        const was = records.find((r) => r.id === id);
        const answer = single(method, list === 'posts' ? undefined : `${id}`, sent);
        if ((answer.status ?? 200) >= 400) {
          records.splice(0, records.length, ...before);
          return answer;
        }
        const made = (answer.body as { result: object }).result;
        result[list] = [...(result[list] ?? []), list === 'deletes' ? was : made];
      }
    }
    return ok(result);
  }

  function single(method: string, id: string | undefined, body: unknown): Answer {
    const at = records.findIndex((r) => r.id === id);
    if (id !== undefined && at < 0) return no(404, 81044, 'Record does not exist.');
    const was = records[at];
    if (method === 'GET') return ok(was);
    if (method === 'DELETE') {
      records.splice(at, 1);
      return ok({ id });
    }
    const sent = body as Sent;
    if (typeof sent !== 'object' || sent === null) return no(400, 9207, 'Request body is invalid.');
    if (method !== 'PATCH' && (!sent.type || !sent.name)) return no(400, 9000, 'type and name are required');
    if (method === 'PATCH' && sent.type && sent.type !== was?.type)
      return no(400, 9000, 'The type of a record cannot be changed');
    const base = method === 'PATCH' ? was : was && ({ id: was.id, created_on: was.created_on } as CloudflareRecord);
    const record = kept(sent, base, '2026-01-01T00:00:00.000000Z');
    const why = wrong(record) ?? clash(record);
    if (why) return no(400, ...why);
    if (was) records[at] = record;
    else records.push(record);
    return ok(record);
  }
  return Object.assign(standIn, { records, most });
}
