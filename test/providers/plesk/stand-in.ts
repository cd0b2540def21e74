import { XMLParser } from 'fast-xml-parser';
import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

export interface StoredRecord {
  id: string;
  site: string;
  type: string;
  host: string;
  value: string;
  opt: string;
}
type Node = { [name: string]: Node & string };

export const ZONE = { id: '71', name: 'contract.example' };
const TTL = 86400;
const parser = new XMLParser({ parseTagValue: false, trimValues: false, htmlEntities: true });
const text = (value: string) =>
  value.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`).replace(/[\u0080-\uffff]/g, (c) => `&#${c.charCodeAt(0)};`);
const xml = (node: object): string =>
  Object.entries(node)
    .map(([name, value]) => {
      const all = Array.isArray(value) ? value : [value];
      return all.map((one) => `<${name}>${typeof one === 'string' ? text(one) : xml(one)}</${name}>`).join('');
    })
    .join('');

/**
 * What the XML API does (traffic of 2018, its documentation, samples of lego): errors with a status of 200, no update,
 * an empty list for what is not there, a TTL that is that of the zone.
 */
export async function startPlesk(): Promise<
  StandIn & { records: StoredRecord[]; sites: { id: string; name: string }[] }
> {
  let ids = 4836;
  const records: StoredRecord[] = [];
  const sites = [{ ...ZONE }];
  const row = (type: string, host: string, value: string, opt = '', site = ZONE.id) =>
    records.push({ id: String(ids++), site, type, host, value, opt });
  row('NS', `${ZONE.name}.`, 'ns2.example.net.');
  // a reverse record stands in the same list
  row('PTR', '192.0.2.56', `${ZONE.name}.`, '24');
  row('A', 'other.example.', '192.0.2.1', '', '72');
  const packet = (content: object): Answer => ({
    headers: { 'content-type': 'text/xml;charset=UTF-8' },
    body: `<?xml version="1.0" encoding="UTF-8"?>${xml({ packet: content })}`,
  });
  const no = (errcode: number, errtext: string, more = {}) => ({
    ...{ status: 'error', errcode: String(errcode), errtext },
    ...more,
  });

  function added(given: Node): object {
    const { 'site-id': site, type = '', host = '', value = '', opt = '' } = given as unknown as Record<string, string>;
    if (!sites.some(({ id }) => id === site)) return no(1015, 'Domain does not exist.');
    if (!['A', 'AAAA', 'CNAME', 'MX', 'NS', 'PTR', 'TXT'].includes(type)) return no(1023, 'Invalid record type');
    if (!value || (type === 'MX' && !/^\d+$/.test(opt))) return no(1019, 'Incorrect DNS record values were specified.');
    const name = host === '' ? `${ZONE.name}.` : `${host}.${ZONE.name}.`;
    const target = ['CNAME', 'MX', 'NS'].includes(type) ? value.replace(/\.?$/, '.') : value;
    const beside = records.filter((r) => r.host === name);
    if (beside.some((r) => r.type === type && r.value === target && r.opt === opt))
      return no(1007, 'The DNS record already exists.');
    if (beside.length && (type === 'CNAME' || beside.some((r) => r.type === 'CNAME')))
      return no(1019, 'CNAME conflicts with other records.');
    row(type, name, target, opt, site);
    return { status: 'ok', id: records.at(-1)?.id };
  }

  const standIn = await startStandIn(({ method, path, headers, body }) => {
    if (method !== 'POST' || path !== '/enterprise/control/agent.php') return { status: 404 };
    if (headers['content-type'] !== 'text/xml') return packet({ system: no(1014, 'Parser error') });
    const isUser = headers.http_auth_login === 'somebody' && headers.http_auth_passwd === 'a-password';
    if (!isUser && headers.key !== 'a-key')
      return packet({ system: no(1001, 'You have entered incorrect username or password.') });
    const { packet: asked } = parser.parse(String(body)) as { packet: Node };
    if (asked.site) {
      const result = sites.map(({ id, name }) => ({
        ...{ status: 'ok', id, data: { gen_info: { name, 'ascii-name': name, status: '0' } } },
      }));
      return packet({ site: { get: { result } } });
    }
    const [[operation, params] = ['', {} as Node]] = Object.entries(asked.dns as Node);
    const { id, 'site-id': site } = ((params as Node).filter || {}) as unknown as Record<string, string>;
    const answer = (result: object): Answer => packet({ dns: { [operation]: { result } } });
    if (operation === 'get') {
      const soa = { ttl: String(TTL), refresh: '10800', retry: '3600', expire: '604800', minimum: '10800' };
      if (!sites.some((one) => one.id === site)) return answer(no(1015, 'Domain does not exist', { 'site-id': site }));
      return answer({ status: 'ok', 'site-id': site, soa, zone_type: 'master', zone_status: 'enabled' });
    }
    if (operation === 'add_rec') return answer(added(params as Node));
    const found = records.filter((r) => (id ? r.id === id : r.site === site));
    if (operation === 'get_rec') {
      const shown = ({ id: own, site: of, type, host, value, opt }: StoredRecord) => ({
        ...{ status: 'ok', id: own, data: { 'site-id': of, type, host, value, opt } },
      });
      return found.length ? answer(found.map(shown)) : packet({ dns: { get_rec: '' } });
    }
    const [one] = found;
    if (!one) return answer(no(1013, 'Record does not exist', { id }));
    records.splice(records.indexOf(one), 1);
    return answer({ status: 'ok', id: one.id });
  });
  return Object.assign(standIn, { records, sites });
}
