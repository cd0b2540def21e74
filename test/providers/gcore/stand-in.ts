import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

export interface GcoreSet {
  name: string;
  type: string;
  ttl: number;
  resource_records: { id?: number; content: unknown[]; enabled?: boolean; meta?: object | null }[];
  filters?: object[] | null;
  pickers?: object[] | null;
  meta?: object | null;
}

const ZONE = 'contract.example';
/** of what the parts of content are: numbers and texts */
const PARTS: Record<string, string> = {
  ...{ A: 's', AAAA: 's', CNAME: 's', NS: 's', PTR: 's', MX: 'ns', SRV: 'nnns', CAA: 'nss' },
};

/** What the API does: samples of lego and octoDNS, the official client, dnscontrol 2025. */
export async function startGcore() {
  const state = {
    sets: [
      {
        ...{ name: ZONE, type: 'NS', ttl: 86400 },
        resource_records: [{ content: ['ns1.gcorelabs.net'] }, { content: ['ns2.gcdn.services'] }],
      },
    ] as GcoreSet[],
    zones: [{ name: 'other.example' }, { name: ZONE }, { name: 'third.example' }],
    page: 1000,
    told: true,
  };
  let ids = 42;
  const no = (status: number, error: string): Answer => ({ status, body: { error } });
  const wrong = ({ name, type, ttl, resource_records: all }: GcoreSet, own?: GcoreSet): string | null => {
    if (!(ttl >= 120)) return 'ttl is too small';
    if (!Array.isArray(all) || !all.length) return 'resource_records are required';
    for (const { content } of all) {
      const form = content
        .map((part) => (typeof part === 'number' ? 'n' : typeof part === 'string' ? 's' : '?'))
        .join('');
      if (type === 'TXT' ? !/^s+$/.test(form) : form !== PARTS[type]) return `content is invalid: ${form}`;
      if (type === 'TXT' && content.some((part) => Buffer.byteLength(String(part)) > 255))
        return 'a string is too long';
      if (type === 'SRV' && content[3] === '.') return 'target is invalid';
    }
    if (new Set(all.map(({ content }) => JSON.stringify(content))).size < all.length) return 'duplicate records';
    const beside = state.sets.filter((set) => set.name === name && set !== own);
    const alone = type === 'CNAME' || beside.some((set) => set.type === 'CNAME');
    return (beside.length && alone) || (type === 'CNAME' && all.length > 1)
      ? 'CNAME conflicts with other records'
      : null;
  };
  const standIn: StandIn = await startStandIn(({ method, path, query, headers, body }) => {
    if (headers.authorization !== 'APIKey a-token') return no(401, 'invalid API token');
    const told = (all: object[]) => (state.told ? { total_amount: all.length } : {});
    const [, , zone, name, type] = path.split('/').map(decodeURIComponent);
    if (!zone) {
      const at = Number(query.offset ?? 0);
      const limit = Math.min(Number(query.limit ?? 100), state.page);
      return { body: { zones: state.zones.slice(at, at + limit), ...told(state.zones) } };
    }
    if (zone !== ZONE) return no(404, 'get zone by name: record not found');
    if (name === 'rrsets' && !type) {
      const all = query.all === 'true' ? state.sets : state.sets.slice(0, 100);
      return { body: { rrsets: all, ...told(state.sets) } };
    }
    const found = state.sets.find((set) => set.name === name && set.type === type);
    if (method === 'POST' ? found : !found)
      return found ? no(400, 'rrset already exists') : no(404, 'record not found');
    if (method === 'DELETE') {
      state.sets = state.sets.filter((set) => set !== found);
      return { body: {} };
    }
    const { ttl, resource_records, ...more } = body as GcoreSet;
    const made = { ...more, name: String(name), type: String(type), ttl, resource_records };
    const why = wrong(made, found);
    if (why) return no(400, why);
    made.resource_records = resource_records.map((one) => ({ enabled: true, ...one, id: ids++ }));
    if (found) state.sets[state.sets.indexOf(found)] = made;
    else state.sets.push(made);
    return { body: made };
  });
  return Object.assign(standIn, { state });
}
