import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

export interface StoredRecord {
  id: number;
  type: string;
  name: string;
  target: string;
  ttl_sec: number;
  priority: number;
  weight: number;
  port: number;
  service: string | null;
  protocol: string | null;
  tag: string | null;
}

export const ZONE_ID = 1417;
const ZONE = 'contract.example';
const TTLS = [300, 3600, 7200, 14400, 28800, 57600, 86400, 172800, 345600, 604800, 1209600, 2419200];

/**
 * What the API does (OpenAPI 2024; lexicon 2018, dnscontrol 2020): names relative, targets without final dot, texts
 * raw, TTLs rounded up, services of SRV with their underscore in answers, a creation that may lose its TTL.
 */
export async function startLinode(): Promise<
  StandIn & {
    records: StoredRecord[];
    zones: { id: number; domain: string; type: string; ttl_sec: number }[];
    most: { page: number };
    /** whether a new record is stored without its TTL */
    forgets: { ttl: boolean };
  }
> {
  const records: StoredRecord[] = [];
  const zones = [{ id: ZONE_ID, domain: ZONE, type: 'master', ttl_sec: 0 }];
  const most = { page: 500 };
  const forgets = { ttl: false };
  let ids = 9_000_001;
  const no = (status: number, reason: string, field?: string): Answer => ({
    status,
    body: { errors: [{ reason, ...(field ? { field } : {}) }] },
  });
  const rounded = (ttl: number) => (ttl === 0 ? 0 : (TTLS.find((one) => one >= ttl) ?? 2419200));

  function stored(body: Record<string, unknown>, id: number, now?: StoredRecord): StoredRecord | Answer {
    const given = { ...now, ...body } as Partial<StoredRecord>;
    const { type = '', target = '', ttl_sec = 0, priority = 0, weight = 0, port = 0, tag = null } = given;
    if (!['A', 'AAAA', 'NS', 'MX', 'CNAME', 'TXT', 'SRV', 'CAA'].includes(type))
      return no(400, 'type is not valid', 'type');
    if (target === '' && type !== 'MX') return no(400, 'target is required', 'target');
    if (
      type === 'MX' &&
      target === '' &&
      (given.name || priority || records.some((r) => r.id !== id && r.type === 'MX'))
    )
      return no(400, 'A null MX has no name, no priority, and no other MX beside it', 'target');
    if (type === 'CAA' && !/^\w/.test(target)) return no(400, 'Must be a valid domain', 'target');
    if (priority > 255) return no(400, 'Must be 0-255', 'priority');
    if (type === 'CAA' && !/^(issue|issuewild|iodef)$/.test(`${tag}`)) return no(400, 'Invalid tag', 'tag');
    const label = (text: string | null | undefined) => (text ? `_${text.replace(/^_/, '')}` : null);
    const [service, protocol] = type === 'SRV' ? [label(given.service), label(given.protocol)] : [null, null];
    if (type === 'SRV' && !service) return no(400, 'service is required', 'service');
    const name = type === 'SRV' ? `${service}.${protocol}` : (given.name ?? '');
    const kept = {
      ...{ id, type, name, target: /^(MX|NS|CNAME|SRV)$/.test(type) ? target.replace(/\.$/, '') : target },
      ...{ ttl_sec: rounded(ttl_sec), priority, weight, port, service, protocol, tag },
    };
    const others = records.filter((r) => r.id !== id && r.name === name);
    const text = ({ id: _id, ttl_sec: _ttl, ...rest }: StoredRecord) => JSON.stringify(rest);
    if (others.some((other) => text(other) === text(kept))) return no(400, 'Record conflict: exists already');
    if (others.length && (type === 'CNAME' || others.some((other) => other.type === 'CNAME')))
      return no(400, 'Record conflict: CNAMEs must be unique', 'name');
    return kept;
  }

  const standIn = await startStandIn(({ method, path, query, headers, body }) => {
    if (headers.authorization !== 'Bearer a-token') return no(401, 'Invalid Token');
    const filter = JSON.parse(String(headers['x-filter'] ?? '{}')) as Record<string, unknown>;
    const page = (all: object[]): Answer => {
      const size = Number(query.page_size ?? 100);
      if (size < 25 || size > 500) return no(400, 'Must be 25-500', 'page_size');
      const hits = all.filter((one) => Object.entries(filter).every(([key, value]) => Object(one)[key] === value));
      const most_ = Math.min(size, most.page);
      const at = Number(query.page ?? 1);
      const data = hits.slice((at - 1) * most_, at * most_);
      return { body: { data, page: at, pages: Math.max(1, Math.ceil(hits.length / most_)), results: hits.length } };
    };
    const [, domains, zoneId, what, id] = path.split('/');
    if (domains !== 'domains') return no(404, 'Not found');
    if (!zoneId) return page(zones);
    const zone = zones.find((one) => String(one.id) === zoneId);
    if (!zone) return no(404, 'Not found');
    if (!what) return { body: zone };
    const now = records.find((r) => String(r.id) === id);
    if (id && !now) return no(404, 'Not found');
    if (method === 'GET') return now ? { body: now } : page(records);
    if (method === 'DELETE') {
      records.splice(records.indexOf(now as StoredRecord), 1);
      return { body: {} };
    }
    const json = { ...(body as Record<string, unknown>) };
    if (now && json.type !== undefined) return no(400, 'type cannot be changed', 'type');
    const made = stored(json, now?.id ?? ids++, now);
    if (!('target' in made)) return made as Answer;
    if (now) records[records.indexOf(now)] = made;
    else records.push(forgets.ttl ? Object.assign(made, { ttl_sec: 0 }) : made);
    return { body: made };
  });
  return Object.assign(standIn, { records, zones, most, forgets });
}
