import { randomUUID } from 'node:crypto';
import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

interface ScalewayRecord extends Record<string, unknown> {
  id: string;
  name: string;
  type: string;
  data: string;
  ttl: number;
  priority: number;
  comment: string | null;
}
type Change = {
  add?: { records: ScalewayRecord[] };
  set?: { id: string; records: ScalewayRecord[] };
  delete?: { id: string };
};

const ZONE = 'contract.example';

/** What the API does (traffic of 2025, samples of octoDNS): pages of 20, one version for a list of changes. */
export async function startScaleway() {
  const record = (more: Partial<ScalewayRecord>): ScalewayRecord => ({
    ...{ id: randomUUID(), name: '', type: 'NS', data: 'ns0.dom.scw.cloud.', ttl: 1800, priority: 0, comment: null },
    ...more,
  });
  const state = { records: [record({}), record({ data: 'ns1.dom.scw.cloud.' })], page: 100 };
  const no = (status: number, message: string): Answer => ({ status, body: { message } });
  const invalid = (argument: string, help: string): Answer => ({
    status: 400,
    body: {
      details: [{ argument_name: argument, help_message: help, reason: 'constraint' }],
      ...{ message: 'invalid argument(s)', type: 'invalid_arguments' },
    },
  });

  /** As it is shown: TXT quoted, the priority before the name of a MX. */
  function shown(given: ScalewayRecord, id: string): ScalewayRecord | string {
    const { type, ttl, priority = 0 } = given;
    const name = given.name.endsWith('.') ? given.name.slice(0, -ZONE.length - 2) : given.name;
    let { data } = given;
    if (!Number.isInteger(ttl) || ttl < 60) return 'ttl';
    if (['CNAME', 'MX', 'NS', 'SRV', 'PTR', 'ALIAS'].includes(type) && !data.endsWith('.')) data = `${data}.${ZONE}.`;
    if (type === 'TXT' && !data.startsWith('"')) data = `"${data}"`;
    if (type === 'TXT' && data.split('" "').some((part) => part.length > 1100)) return 'data';
    if (type === 'MX') data = `${priority} ${data}`;
    if (type === 'SRV') data = data.replace(/^(\d+) 0 /, '$1 ');
    return record({ id, name, type, data, ttl, priority, comment: given.comment ?? null });
  }

  function patch(changes: Change[]): Answer {
    let next = [...state.records];
    const touched: ScalewayRecord[] = [];
    for (const { add, set, delete: gone } of changes) {
      const id = set?.id ?? gone?.id;
      if (id && !next.some((r) => r.id === id)) return no(404, 'record not found');
      if (id) next = next.filter((r) => r.id !== id);
      for (const given of add?.records ?? set?.records ?? []) {
        const now = shown(given, id ?? randomUUID());
        if (typeof now === 'string') return invalid(`changes.${now}`, `${now} is out of range`);
        const twin = next.find((r) => [r.name, r.type, r.data].join() === [now.name, now.type, now.data].join());
        if (twin) return no(409, 'record already exists');
        const beside = next.filter((r) => r.name === now.name);
        if (beside.some((r) => r.type === 'CNAME' || now.type === 'CNAME'))
          return invalid('changes', 'CNAME must be alone');
        next.push(now);
        touched.unshift(now);
      }
    }
    state.records = next;
    return { body: { records: touched } };
  }

  const standIn: StandIn = await startStandIn(({ method, path, query, headers, body }) => {
    if (headers['x-auth-token'] !== 'a-key')
      return { status: 401, body: { message: 'authentication is denied', type: 'denied_authentication' } };
    const paged = (key: string, all: object[]): Answer => {
      const size = Math.min(state.page, Number(query.page_size ?? 20));
      const at = (Number(query.page ?? 1) - 1) * size;
      return { body: { total_count: all.length, [key]: all.slice(at, at + size) } };
    };
    if (path === '/dns-zones') {
      const zones = [
        { domain: ZONE, subdomain: '', status: 'active' },
        { domain: ZONE, subdomain: 'eu', status: 'active' },
      ];
      return paged(
        'dns_zones',
        zones.filter((zone) => !query.dns_zone || `${zone.domain}`.includes(query.dns_zone)),
      );
    }
    if (path !== `/dns-zones/${ZONE}/records`) return no(403, 'domain not found');
    if (method === 'GET') {
      const hit = (r: ScalewayRecord) =>
        (!query.id || r.id === query.id) &&
        (query.name === undefined || r.name === query.name) &&
        (!query.type || r.type === query.type);
      return paged('records', state.records.filter(hit));
    }
    const { changes, disallow_new_zone_creation: strict } = body as {
      changes: Change[];
      disallow_new_zone_creation?: boolean;
    };
    return strict ? patch(changes) : no(400, 'A write to a zone that is gone would make it anew');
  });
  return Object.assign(standIn, { state, record });
}
