import { createHmac } from 'node:crypto';
import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

export type Stored = { id: number; name: string; type: string; value: string; ttl: number; [more: string]: unknown };

const ZONE = { id: 878951, name: 'contract.example', gtdEnabled: false, pendingActionId: 0, processMulti: false };
const TYPES = 'A AAAA ANAME CAA CNAME HTTPRED MX NS PTR SRV TXT'.split(' ');
const OWN = {
  ...{ failover: false, monitor: false, sourceId: ZONE.id, dynamicDns: false, failed: false, hardLink: false },
  ...{ gtdLocation: 'DEFAULT', source: 1 },
};

/** What the API does: traffic of 2018; samples of octoDNS (2021) and dnscontrol (2022) for MX, SRV and CAA. */
export async function startDnsmadeeasy(): Promise<
  StandIn & { records: Stored[]; most: { page: number }; zones: { id: number; name: string }[] }
> {
  const zones = [{ ...ZONE, id: 1, name: 'a.example' }, { ...ZONE, id: 2, name: 'b.example' }, ZONE];
  const records: Stored[] = [];
  const most = { page: 100 };
  let ids = 10168985;
  const no = (status: number, ...error: string[]): Answer => ({ status, body: { error } });
  const html = (): Answer => ({
    ...{ status: 404, headers: { 'content-type': 'text/html' } },
    body: '<!DOCTYPE html><html><head><title>Management Console</title></head></html>',
  });
  const wrong = (made: Stored): string | null => {
    const { id, name, type, value, ttl } = made;
    if (!TYPES.includes(type)) return `Invalid record type: ${type}`;
    if (typeof value !== 'string' || value === '') return 'Record value is required.';
    if (!Number.isInteger(ttl)) return 'TTL is required.';
    if (type === 'MX' && !Number.isInteger(made.mxLevel)) return 'MX level is required.';
    if (type === 'SRV' && ![made.priority, made.weight, made.port].every(Number.isInteger)) return 'SRV needs numbers.';
    if (type === 'CAA' && (!made.caaType || !Number.isInteger(made.issuerCritical))) return 'CAA needs a type.';
    const beside = records.filter((other) => other.name === name && other.id !== id);
    const same = (other: Stored) =>
      ['type', 'value', 'mxLevel', 'priority', 'weight', 'port', 'caaType', 'issuerCritical'].every(
        (key) => other[key] === made[key],
      );
    if (beside.some(same))
      return `Record with this type (${type}), name (${name}), and value (${value}) already exists.`;
    const cname = type === 'CNAME' || beside.some((other) => other.type === 'CNAME');
    return beside.length && cname ? 'A CNAME cannot be beside other records.' : null;
  };
  const standIn = await startStandIn(({ method, path, query, headers, body }) => {
    const date = `${headers['x-dnsme-requestdate'] ?? ''}`;
    const hmac = createHmac('sha1', 'a-secret').update(date).digest('hex');
    if (headers['x-dnsme-apikey'] !== 'a-key' || headers['x-dnsme-hmac'] !== hmac) return no(403, 'API key not found');
    if (Math.abs(Date.parse(date) - Date.now()) > 30_000) return no(403, 'Request sent with invalid date');
    const page = (all: object[]): Answer => {
      const at = Number(query.page ?? 0);
      const totalPages = Math.max(1, Math.ceil(all.length / most.page));
      const data = all.slice(at * most.page, (at + 1) * most.page);
      return { body: { totalPages, totalRecords: all.length, data, page: at } };
    };
    if (path === '/dns/managed') return page(zones);
    if (path === '/dns/managed/name') {
      const zone = zones.find(({ name }) => name === query.domainname);
      return zone ? { body: zone } : html();
    }
    const [, , , zone, , id] = path.split('/');
    const found = records.find((record) => String(record.id) === id);
    if (zone !== String(ZONE.id)) return html();
    if (id && !found) return no(400, 'Record not found.');
    if (method === 'GET') {
      const wanted = ({ name, type }: Stored) =>
        (!query.recordName || query.recordName === name) && (!query.type || query.type === type);
      return page(records.filter(wanted));
    }
    if (method === 'DELETE') {
      records.splice(records.indexOf(found as Stored), 1);
      return {};
    }
    // an update replaces the whole record
    const made = { ...OWN, ...(body as Stored), id: found?.id ?? ids++ };
    if (found && found.type !== made.type) return no(400, 'The type of a record cannot be changed.');
    if (made.type === 'TXT' && !made.value.startsWith('"')) made.value = `"${made.value}"`;
    if (made.type === 'CAA' && made.value && !made.value.startsWith('"')) made.value = `"${made.value}"`;
    const why = wrong(made);
    if (why) return no(400, why);
    if (found) records[records.indexOf(found)] = made;
    else records.push(made);
    return found ? {} : { status: 201, body: made };
  });
  return Object.assign(standIn, { records, most, zones });
}
