import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

interface GandiSet {
  rrset_name: string;
  rrset_type: string;
  rrset_ttl: number;
  rrset_values: string[];
}

const ZONE = 'contract.example';

/** What the API does (traffic of 2020, its description): sets by name and type, TXT quoted, pages with a total. */
export async function startGandi() {
  const state = {
    sets: [
      { rrset_name: '@', rrset_type: 'NS', rrset_ttl: 10800, rrset_values: ['ns-1-a.gandi.net.', 'ns-2-b.gandi.net.'] },
    ] as GandiSet[],
    page: 100,
  };
  const no = (code: number, message: string, object: string): Answer => ({
    status: code,
    body: { code, message, object, cause: 'x' },
  });
  const invalid = (name: string, description: string): Answer => ({
    status: 400,
    body: { status: 'error', errors: [{ location: 'body', name, description }] },
  });

  const standIn: StandIn = await startStandIn(({ method, path, query, headers, body }) => {
    if (headers.authorization !== 'Bearer a-token') {
      return no(401, 'The server could not verify that you are authorized', 'HTTPUnauthorized');
    }
    const paged = (all: object[]): Answer => {
      const size = Math.min(state.page, Number(query.per_page ?? 100));
      const at = (Number(query.page ?? 1) - 1) * size;
      return { body: all.slice(at, at + size), headers: { 'total-count': String(all.length) } };
    };
    const [, , domain, records, encoded, type] = path.split('/');
    if (!domain) return paged([{ fqdn: ZONE }, { fqdn: 'other.example' }]);
    if (domain !== ZONE) return no(404, 'The resource could not be found.', 'HTTPNotFound');
    if (!records) return { body: { fqdn: ZONE, automatic_snapshots: true } };
    if (!encoded || !type) return paged(state.sets);
    const name = decodeURIComponent(encoded);
    const found = state.sets.find((set) => set.rrset_name === name && set.rrset_type === type);
    if (!found && method !== 'PUT')
      return no(404, `Can't find the DNS record ${name}/${type} in the zone`, 'dns-record');
    if (method === 'GET') return { body: found };
    if (method === 'DELETE') {
      if (name === '@' && type === 'NS') return invalid('rrset_type', 'the name servers of the zone stay');
      state.sets = state.sets.filter((set) => set !== found);
      return { status: 204 };
    }
    const { rrset_values: given, rrset_ttl: ttl } = body as GandiSet;
    if (!(ttl >= 300 && ttl <= 2592000)) return invalid('rrset_ttl', `${ttl} is less than minimum value 300`);
    if (!given.length || new Set(given).size < given.length) return invalid('rrset_values', 'duplicate or no values');
    if (type === 'CNAME' && given.length > 1) return invalid('rrset_values', 'a CNAME has one value');
    const beside = state.sets.filter((set) => set.rrset_name === name && set !== found);
    if (beside.some((set) => set.rrset_type === 'CNAME' || type === 'CNAME')) {
      return no(409, 'A CNAME cannot exist with other records', 'dns-record');
    }
    const strings = given.flatMap((value) => (type === 'TXT' ? value.split('" "') : []));
    if (strings.some((text) => text.length > 1024)) return invalid('rrset_values', 'a string is too long');
    const values = given.map((value) => (type === 'TXT' && !value.startsWith('"') ? `"${value}"` : value));
    const now = { rrset_name: name, rrset_type: type, rrset_ttl: ttl, rrset_values: values };
    if (found) state.sets[state.sets.indexOf(found)] = now;
    else state.sets.push(now);
    return { status: 201, body: { message: 'DNS Record Created' } };
  });
  return Object.assign(standIn, { state });
}
