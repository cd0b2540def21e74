import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

interface GodaddyRow extends Record<string, unknown> {
  type: string;
  name: string;
  data: string;
  ttl: number;
}

const ZONE = 'contract.example';

/**
 * What the API does (its description of v1, samples of clients): rows replaced by type and name, TXT as it is, the
 * zone's own name as `@`, no final dots; SRV with the service in fields of its own.
 */
export async function startGodaddy() {
  const state = {
    rows: [
      { type: 'NS', name: '@', data: 'ns01.domaincontrol.com', ttl: 3600 },
      { type: 'NS', name: '@', data: 'ns02.domaincontrol.com', ttl: 3600 },
      { type: 'SOA', name: '@', data: 'Primary nameserver: ns01.domaincontrol.com.', ttl: 600 },
    ] as GodaddyRow[],
    domains: [
      { domain: ZONE, status: 'ACTIVE', expires: '2031-02-03T04:05:06.000Z' },
      { domain: 'given-up.example', status: 'CANCELLED' },
    ] as { domain: string; status: string; expires?: string }[],
    /** an account with fewer than ten domains */
    small: false,
  };
  const no = (status: number, code: string, message: string, more = {}): Answer => ({
    status,
    body: { code, message, ...more },
  });

  function refused(type: string, name: string, rows: GodaddyRow[]): Answer | null {
    const fields = rows.flatMap(({ ttl, data }, i) => [
      ...(ttl < 600 ? [{ path: `records[${i}].ttl`, message: 'must be at least 600' }] : []),
      ...(type === 'A' && !/^\d+(\.\d+){3}$/.test(data)
        ? [{ path: `records[${i}].data`, message: 'is not an IP address' }]
        : []),
      ...(typeof data !== 'string' ? [{ path: `records[${i}].data`, message: 'is required' }] : []),
      ...(['CNAME', 'NS', 'MX', 'SRV'].includes(type) && data.endsWith('.') && data !== '.'
        ? [{ path: `records[${i}].data`, message: 'is not a host name' }]
        : []),
    ]);
    if (!rows.length || fields.length) {
      return no(422, 'INVALID_BODY', "Request body doesn't fulfill schema, see details in `fields`", { fields });
    }
    const same = new Set(rows.map(({ ttl: _ttl, ...row }) => JSON.stringify(row)));
    if (same.size < rows.length) {
      return no(422, 'DUPLICATE_RECORD', 'Another record with the same attributes already exists');
    }
    const beside = state.rows.filter((row) => row.name === name && row.type !== type && row.type !== 'SRV');
    const clash =
      beside.some((row) => row.type === 'CNAME' || type === 'CNAME') || (type === 'CNAME' && rows.length > 1);
    return clash && type !== 'SRV' ? no(422, 'CONFLICT', 'A CNAME cannot stand beside other records') : null;
  }

  const standIn: StandIn = await startStandIn(({ method, path, query, headers, body }) => {
    if (headers.authorization !== 'sso-key a-key:a-secret') {
      return no(401, 'UNABLE_TO_AUTHENTICATE', 'Unauthorized : Could not authenticate API key/secret');
    }
    if (state.small) return no(403, 'ACCESS_DENIED', 'Authenticated user is not allowed access');
    const [, , , domain, records, type, encoded] = path.split('/');
    if (!domain) {
      const sorted = state.domains.toSorted((a, b) => (a.domain < b.domain ? -1 : 1));
      const after = sorted.filter((one) => !query.marker || one.domain > query.marker);
      return { body: after.slice(0, Math.min(1000, Number(query.limit ?? 100))) };
    }
    const known = state.domains.find((one) => one.domain === domain && one.status === 'ACTIVE');
    if (!known) return no(404, 'UNKNOWN_DOMAIN', 'The given domain is not registered, or does not have a zone file');
    if (!records) return { body: known };
    const name = encoded === undefined ? undefined : decodeURIComponent(encoded);
    const hit = (row: GodaddyRow) => (!type || row.type === type) && (name === undefined || row.name === name);
    const found = state.rows.filter(hit);
    if (method === 'GET') {
      const size = Math.min(500, Number(query.limit ?? 500));
      const at = (Number(query.offset ?? 1) - 1) * size;
      // no page stands behind the last one
      if (at > 0 && at >= found.length) return no(422, 'INVALID_VALUE', 'offset is beyond the last page');
      return { body: found.slice(at, at + size) };
    }
    if (!type || name === undefined) return no(405, 'METHOD_NOT_ALLOWED', 'Never replace all of a type');
    if (method === 'DELETE') {
      if (!found.length) return no(404, 'NOT_FOUND', 'No such record');
      if (type === 'NS' && name === '@') return no(409, 'UNDELETABLE', 'The name servers of a domain stay');
      state.rows = state.rows.filter((row) => !hit(row));
      return { status: 204 };
    }
    const given = body as GodaddyRow[];
    const why = refused(type, name, given);
    if (why) return why;
    const shown = ({ data, ...row }: GodaddyRow) => ({
      ...row,
      ...{ type, name, data: type !== 'TXT' && data === ZONE ? '@' : data },
    });
    state.rows = [...state.rows.filter((row) => !hit(row)), ...given.map(shown)];
    return { status: 200 };
  });
  return Object.assign(standIn, { state });
}
