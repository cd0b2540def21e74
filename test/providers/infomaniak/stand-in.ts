import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

export interface Stored {
  id: number;
  source: string;
  source_idn: string;
  type: string;
  ttl: number;
  target: string;
  updated_at: number;
}

const ZONE = 'contract.example';

/** What the API does (exchanges of lego, Ansible 2026; products as recorded 2021): envelopes, pages by number. */
export async function startInfomaniak(): Promise<StandIn & { records: Stored[]; most: { page: number } }> {
  const records: Stored[] = [];
  const most = { page: 100 };
  let ids = 32824;
  const ok = (data: unknown, status = 200): Answer => ({ status, body: { result: 'success', data } });
  const no = (status: number, code: string, description: string, errors?: object[]): Answer => ({
    status,
    body: { result: 'error', error: { code, description, ...(errors && { errors }) } },
  });
  const invalid = (field: string) =>
    no(422, 'validation_failed', 'Validation failed', [
      { code: `invalid_${field}`, description: `The ${field} is invalid`, context: { attribute: field } },
    ]);
  const gone = no(404, 'object_not_found', 'Object not found');
  const longest = (target: string) =>
    Math.max(
      ...target.split('" "').map((part) => Buffer.byteLength(part.replace(/^"|"$/g, '').replace(/\\(.)/g, '$1'))),
    );

  function put(record: Stored): Answer | null {
    const { type, ttl, target, source, id } = record;
    if (!Number.isInteger(ttl) || ttl < 60 || ttl > 2592000) return invalid('ttl');
    if (typeof target !== 'string' || (type === 'MX' && !/^\d+ \S+$/.test(target))) return invalid('target');
    // what has no quotes gets them
    record.target = type === 'TXT' && !target.startsWith('"') ? `"${target}"` : target;
    if (type === 'TXT' && longest(record.target) > 255) return invalid('target');
    if (!/^(\.|(\*|[\w-]+)(\.[\w-]+)*)$/.test(source)) return invalid('source');
    const beside = records.filter((other) => other.source === source && other.id !== id);
    return beside.some((other) => other.type === 'CNAME' || type === 'CNAME') ? invalid('type') : null;
  }

  const standIn = await startStandIn(({ method, path, query, headers, body }) => {
    if (headers.authorization !== 'Bearer a-token') return no(401, 'not_authorized', 'Authorization required');
    const page = <T>(all: T[]): Answer => {
      const size = Math.min(most.page, Number(query.per_page ?? 15));
      const from = (Number(query.page ?? 1) - 1) * size;
      const paging = { total: all.length, page: Number(query.page ?? 1), items_per_page: size };
      return { body: { result: 'success', data: all.slice(from, from + size), ...paging } };
    };
    if (path === '/1/product' && query.service_name === 'domain') {
      const product = { account_id: 1578, service_id: 14, service_name: 'domain', expired_at: 1634680800 };
      const names = ['other.example', ZONE].filter((name) => (query.customer_name ?? name) === name);
      return page(names.map((name) => ({ ...product, id: 890190 + name.length, customer_name: name })));
    }
    const [, version, , name, , id] = path.split('/');
    if (version !== '2' || name !== ZONE) return gone;
    if (!id && method === 'GET') {
      const hit = (r: Stored) =>
        (query['filter[source]'] ?? r.source) === r.source && (query['filter[types][]'] ?? r.type) === r.type;
      return page(records.filter(hit));
    }
    const found = records.find((record) => String(record.id) === id);
    if (id && !found) return gone;
    if (method === 'GET') return ok(found);
    if (method === 'DELETE') {
      records.splice(records.indexOf(found as Stored), 1);
      return ok(true);
    }
    const given = body as Stored;
    if (found && ('source' in given || 'type' in given)) return invalid('source');
    const made = { ...found, ...given, id: found?.id ?? ids++, updated_at: 1779826643 } as Stored;
    made.source_idn = made.source === '.' ? ZONE : `${made.source}.${ZONE}`;
    const why = put(made);
    if (why) return why;
    if (found) records[records.indexOf(found)] = made;
    else records.push(made);
    // the documentation says 200
    return ok(made, found ? 200 : 201);
  });
  return Object.assign(standIn, { records, most });
}
