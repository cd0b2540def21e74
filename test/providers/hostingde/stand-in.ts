import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

export interface StoredRecord {
  id: string;
  zoneConfigId: string;
  name: string;
  type: string;
  content: string;
  ttl: number;
  priority: number | null;
  comments: string;
  recordTemplateId: string | null;
}
interface StoredZone {
  id: string;
  name: string;
  type: string;
  status: string;
}
interface Asked {
  authToken?: string;
  filter?: Filter | { subFilterConnective: string; subFilter: Filter[] };
  limit?: number;
  page?: number;
  zoneConfigId?: string;
  recordsToAdd?: StoredRecord[];
  recordsToModify?: StoredRecord[];
  recordsToDelete?: { id: string }[];
}
type Filter = { field: string; value: string };

export const ZONE: StoredZone = {
  id: '260310i7fx2xtjv6kse',
  name: 'contract.example',
  type: 'NATIVE',
  status: 'active',
};
const TYPES = 'A AAAA ALIAS CAA CERT CNAME DNSKEY DS MX NS NULLMX OPENPGPKEY PTR SRV SSHFP TLSA TXT'.split(' ');

/**
 * What the API does (traffic of 2019 and 2026, its description): all by POST with a status of 200, filters with
 * asterisks, records changed in lists that are carried out whole, the zone blocked for a while after each.
 */
export async function startHostingde(): Promise<
  StandIn & { records: StoredRecord[]; zones: StoredZone[]; world: { page: number; looks: number } }
> {
  let ids = 1;
  const row = (more: Partial<StoredRecord>): StoredRecord => ({
    ...{ id: `2603100000000${ids++}`, zoneConfigId: ZONE.id, name: ZONE.name, type: 'NS', content: 'ns1.routing.net' },
    ...{ ttl: 86400, priority: null, comments: '', recordTemplateId: null, ...more },
  });
  const soa = 'ns1.routing.net. hostmaster.contract.example. 2026031000 86400 7200 3600000 900';
  const records = [row({}), row({ type: 'SOA', content: soa })];
  const zones = [{ ...ZONE }];
  // `looks`: how often a zone is looked at until it is free again
  const world = { page: 1000, looks: 0 };
  let blocked = 0;
  const ok = (response: object, status = 'success'): Answer => ({
    body: { errors: [], response, status, warnings: [] },
  });
  const no = (code: number, text: string, value = ''): Answer => ({
    body: { errors: [{ code, contextObject: '', contextPath: '', details: [], text, value }], status: 'error' },
  });

  function found<T extends object>(all: readonly T[], fields: Record<string, keyof T>, asked: Asked): Answer {
    const { filter, limit = 25, page = 1 } = asked;
    const filters = filter === undefined ? [] : 'subFilter' in filter ? filter.subFilter : [filter];
    const hit = (one: T) =>
      filters.every(({ field, value }) => {
        const name = fields[field.toLowerCase()];
        if (!name) throw new Error(`no field ${field}`);
        const parts = value.split('*').map((part) => part.replace(/[.+?^$()|[\]\\{}]/g, '\\$&'));
        return new RegExp(`^${parts.join('.*')}$`, 'i').test(String(one[name]));
      });
    const hits = all.filter(hit);
    const size = Math.min(limit, world.page);
    const data = hits.slice((page - 1) * size, page * size);
    const totalPages = Math.ceil(hits.length / size);
    return ok({ data, limit: size, page, totalEntries: hits.length, totalPages });
  }

  function update({ zoneConfigId, recordsToAdd = [], recordsToModify = [], recordsToDelete = [] }: Asked): Answer {
    if (!zones.some((zone) => zone.id === zoneConfigId)) return no(10301, 'The zone was not found');
    if (blocked) {
      const words = 'The current status of an object you are trying to use does not allow that operation.';
      return no(10205, words, 'blocked');
    }
    let next = [...records];
    for (const { id } of [...recordsToDelete, ...recordsToModify])
      if (!next.some((r) => r.id === id)) return no(20301, 'The record does not exist', id);
    next = next.filter((r) => !recordsToDelete.some(({ id }) => id === r.id));
    for (const one of recordsToModify) next = next.map((r) => (r.id === one.id ? row({ ...one, id: r.id }) : r));
    next.push(...recordsToAdd.map((one) => row(one)));
    for (const one of next.filter((r) => !records.includes(r))) {
      const { name, type, ttl } = one;
      if (!TYPES.includes(type)) return no(20011, 'The record type is invalid', type);
      if (!(ttl >= 60 && ttl <= 31556926)) return no(20012, 'The TTL is out of range', `${ttl}`);
      if (name !== ZONE.name && !name.endsWith(`.${ZONE.name}`)) return no(20013, 'The name is not in the zone', name);
      if (/^(ALIAS|CNAME|MX|NS|PTR|SRV)$/.test(type) && !/[^.]$/.test(one.content))
        return no(20014, 'The content is invalid', one.content);
      if (type === 'TXT' && !one.content.startsWith('"')) one.content = `"${one.content}"`;
      const beside = next.filter((r) => r !== one && r.name === name);
      if (beside.length && [one, ...beside].some((r) => r.type === 'CNAME')) return no(20015, 'CNAME beside others');
    }
    records.splice(0, records.length, ...next);
    blocked = world.looks;
    const zoneConfig = { ...zones.find((zone) => zone.id === zoneConfigId), status: blocked ? 'blocked' : 'active' };
    return ok({ records, zoneConfig }, 'pending');
  }

  const standIn = await startStandIn(({ method, path, body }) => {
    const asked = body as Asked;
    if (method !== 'POST') return { status: 405 };
    if (asked.authToken !== 'a-key') return no(10101, 'The authToken is invalid');
    if (path === '/zoneConfigsFind') {
      const status = blocked ? 'blocked' : undefined;
      blocked = Math.max(0, blocked - 1);
      const shown = zones.map((zone) => ({ ...zone, ...(status && { status }) }));
      return found(shown, { zoneconfigid: 'id', zonename: 'name' }, asked);
    }
    if (path === '/recordsFind') {
      const fields = { zoneconfigid: 'zoneConfigId', recordid: 'id', recordtype: 'type', recordname: 'name' } as const;
      return found(records, fields, asked);
    }
    return path === '/recordsUpdate' ? update(asked) : { status: 404 };
  });
  return Object.assign(standIn, { records, zones, world });
}
