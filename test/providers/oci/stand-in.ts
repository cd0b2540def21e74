import { createHash, createPublicKey, verify } from 'node:crypto';
import { type Answer, type Received, type StandIn, startStandIn } from '../../support/vendor.js';

export type Stored = { domain: string; rtype: string; rdata: string; ttl: number; isProtected: boolean };
type Operation = Partial<Stored> & { operation: string; recordHash?: string };

export const VIEW = 'ocid1.dnsview.oc1..v';
const TYPES = 'A AAAA ALIAS CAA CNAME DS MX NS PTR SOA SRV SSHFP TLSA TXT'.split(' ');
const zoneOf = (name: string, scope: string, id: string, zoneType = 'PRIMARY') => ({
  ...{ id, name, scope, zoneType, viewId: scope === 'PRIVATE' ? VIEW : null },
  ...{ compartmentId: 'ocid1.compartment.oc1..c', lifecycleState: 'ACTIVE', isProtected: false },
});
export const hashOf = ({ domain, rtype, rdata }: Stored): string =>
  createHash('md5').update(`${domain} ${rtype} ${rdata}`).digest('hex');

/**
 * What the API does: traffic of 2022 (names, hashes, PATCH of a name, pages, errors), Oracle's description (scopes,
 * views, the signature as its "Request Signatures" has it).
 * @param publicPem with which signatures are checked
 */
export async function startOci(
  publicPem: string,
): Promise<StandIn & { records: Stored[]; zones: ReturnType<typeof zoneOf>[]; most: { page: number } }> {
  const zones = [
    zoneOf('contract.example', 'GLOBAL', 'ocid1.dns-zone.oc1..a'),
    zoneOf('contract.example', 'PRIVATE', 'ocid1.dns-zone.oc1..b'),
    zoneOf('second.example', 'GLOBAL', 'ocid1.dns-zone.oc1..c', 'SECONDARY'),
  ];
  const soa = 'ns1.p68.dns.oraclecloud.net. hostmaster.contract.example. 77 3600 600 604800 1800';
  const own = (rtype: string, rdata: string): Stored => ({
    ...{ domain: 'contract.example', rtype, rdata, ttl: 86400, isProtected: true },
  });
  const records = [own('SOA', soa), own('NS', 'ns1.p68.dns.oraclecloud.net.')];
  const most = { page: 100 };
  const key = createPublicKey(publicPem);
  const no = (status: number, code: string, message: string): Answer => ({ status, body: { code, message } });
  const absent = () => no(404, 'NotAuthorizedOrNotFound', 'Authorization failed or requested resource not found.');

  const isSigned = ({ method, path, query, headers }: Received): boolean => {
    // as it was sent: what stands before the handler may have changed it
    const body = standIn.requests.findLast((request) => request.headers === headers)?.body;
    const parts = Object.fromEntries(
      [...(headers.authorization ?? '').matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]),
    );
    const search = new URLSearchParams(query).toString();
    const target = `${method.toLowerCase()} ${path}${search ? `?${search}` : ''}`;
    const names = (parts.headers ?? '').split(' ');
    const needs = ['date', '(request-target)', 'host', ...(body ? ['content-length', 'x-content-sha256'] : [])];
    const sum = createHash('sha256')
      .update(JSON.stringify(body ?? ''))
      .digest('base64');
    const lines = names.map((name) => `${name}: ${name === '(request-target)' ? target : headers[name]}`);
    return (
      needs.every((name) => names.includes(name)) &&
      (!body || headers['x-content-sha256'] === sum) &&
      Math.abs(Date.parse(headers.date ?? '') - Date.now()) < 300_000 &&
      parts.keyId === 't/u/f' &&
      verify('sha256', Buffer.from(lines.join('\n')), key, Buffer.from(parts.signature ?? '', 'base64'))
    );
  };
  const shown = (record: Stored) => ({ ...record, recordHash: hashOf(record), rrsetVersion: '3' });
  const wrong = (all: readonly Stored[]): string | null => {
    for (const one of all) {
      const beside = all.filter((other) => other !== one && other.domain === one.domain);
      if (!TYPES.includes(one.rtype)) return 'Unsupported record type';
      if (/^(ALIAS|CNAME|MX|NS|PTR|SRV)$/.test(one.rtype) && !one.rdata.endsWith('.')) return 'Invalid rdata';
      if (one.rtype === 'CNAME' && beside.length) return 'A CNAME must be alone at its domain';
      if (beside.some(({ rtype, ttl }) => rtype === one.rtype && ttl !== one.ttl)) return 'TTLs of an RRSet differ';
    }
    return null;
  };
  const standIn: StandIn = await startStandIn((request) => {
    const { method, path, query, body } = request;
    if (!isSigned(request))
      return no(401, 'NotAuthenticated', 'The required information was not provided or is wrong.');
    const page = <T>(all: T[], wrap: (part: T[]) => unknown): Answer => {
      const size = Math.min(Number(query.limit ?? 50), most.page);
      const at = Number(query.page?.slice(1) ?? 0);
      const next: Record<string, string> = at + size < all.length ? { 'opc-next-page': `p${at + size}` } : {};
      return { body: wrap(all.slice(at, at + size)), headers: { 'opc-total-items': `${all.length}`, ...next } };
    };
    const [, , zoneId, , domain] = path.split('/').map(decodeURIComponent);
    const visible = zones.filter(({ scope }) => scope === (query.scope ?? 'GLOBAL'));
    if (!zoneId) {
      if (!query.compartmentId) return no(400, 'MissingParameter', 'compartmentId');
      const named = visible.filter(
        ({ name, viewId }) => [name, undefined].includes(query.name) && viewId === (query.viewId ?? null),
      );
      return page(named, (part) => part);
    }
    const zone = visible.find(({ id, name, scope }) => id === zoneId || (name === zoneId && scope === 'GLOBAL'));
    if (!zone) return absent();
    if (!path.includes('/records')) return { body: zone };
    const at = (all: Stored[]) => all.filter((record) => !domain || record.domain === domain);
    if (method === 'GET') {
      return page(
        at(records)
          .filter(({ rtype }) => [rtype, undefined].includes(query.rtype))
          .map(shown),
        (items) => ({ items }),
      );
    }
    let after = [...records];
    for (const { operation, recordHash, ...more } of (body as { items: Operation[] }).items) {
      const matches = (record: Stored) => at([record]).length > 0 && hashOf(record) === recordHash;
      if (operation === 'REMOVE') {
        if (after.some((record) => matches(record) && record.isProtected))
          return no(400, 'InvalidParameter', 'Protected');
        after = after.filter((record) => !matches(record));
      } else {
        const made = { domain: `${domain}`, isProtected: false, ...more } as Stored;
        if (!after.some((record) => hashOf(record) === hashOf(made))) after.push(made);
      }
    }
    const why = wrong(after);
    if (why) return no(400, 'InvalidParameter', why);
    records.splice(0, records.length, ...after);
    return page(at(records).map(shown), (items) => ({ items }));
  });
  return Object.assign(standIn, { records, zones, most });
}
