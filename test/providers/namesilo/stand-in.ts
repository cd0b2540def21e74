import { createHash } from 'node:crypto';
import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

interface StoredNamesilo {
  record_id: string;
  type: string;
  host: string;
  value: string;
  ttl: string;
  distance: string;
}

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** What the API does (traffic of 2016 to 2018, its documentation): all by GET, a new id with each change. */
export async function startNamesilo(): Promise<
  StandIn & { records: StoredNamesilo[]; domains: string[]; most: { page: number } }
> {
  const zone = 'contract.example';
  const domains = [zone];
  const records: StoredNamesilo[] = [];
  const most = { page: 500 };
  let made = 0;
  const reply = (operation: string, code: number, detail: string, more = ''): Answer => ({
    headers: { 'content-type': 'text/xml' },
    body: `<?xml version="1.0"?><namesilo><request><operation>${operation}</operation><ip>192.0.2.1</ip></request><reply><code>${code}</code><detail>${detail}</detail>${more}</reply></namesilo>`,
  });

  const standIn = await startStandIn(({ method, path, query }) => {
    const operation = path.slice(1);
    const yes = (more = '') => reply(operation, 300, 'success', more);
    const no = (code: number, detail: string) => reply(operation, code, detail);
    if (method !== 'GET') return { status: 405 };
    if (query.version !== '1') return no(103, 'Invalid API version');
    if (query.type !== 'xml') return no(105, 'Invalid API type');
    if (query.key !== 'a-key') return no(110, 'Invalid API Key');
    if (operation === 'listDomains') {
      const size = Math.min(most.page, Number(query.pageSize ?? 100));
      const at = (Number(query.page ?? 1) - 1) * size;
      const list = domains.slice(at, at + size);
      const one = (name: string) => `<domain created="2016-04-02" expires="2018-04-02">${name}</domain>`;
      return yes(
        `<domains>${list.map(one).join('')}</domains><pager><total>${domains.length}</total><pageSize>${size}</pageSize><page>${query.page}</page></pager>`,
      );
    }
    if (query.domain !== zone) return no(200, 'Domain is not active, or does not belong to this user');
    if (operation === 'getDomainInfo') return yes('<created>2016-04-02</created><expires>2018-04-02</expires>');
    if (operation === 'dnsListRecords')
      return yes(
        records
          .map(
            (r) =>
              `<resource_record><record_id>${r.record_id}</record_id><type>${r.type}</type><host>${r.host}</host><value>${escaped(r.value)}</value><ttl>${r.ttl}</ttl><distance>${r.distance}</distance></resource_record>`,
          )
          .join(''),
      );
    const old = records.find((r) => r.record_id === query.rrid);
    if (operation !== 'dnsAddRecord' && !old) return no(280, 'could not find the resource record');
    if (operation === 'dnsDeleteRecord') {
      records.splice(records.indexOf(old as StoredNamesilo), 1);
      return yes();
    }
    const type = old?.type ?? query.rrtype ?? '';
    const { rrhost, rrvalue, rrttl = '7207', rrdistance } = query;
    if (!['A', 'AAAA', 'CNAME', 'MX', 'TXT'].includes(type)) return no(280, `invalid type ${type}`);
    if (rrhost === undefined || rrhost === '@' || rrhost.endsWith(zone)) return no(280, 'invalid host');
    if (!rrvalue || rrvalue.endsWith('.')) return no(280, 'invalid value');
    if (Number(rrttl) < 3600 || Number(rrttl) > 2592000) return no(280, 'invalid ttl');
    const host = rrhost ? `${rrhost}.${zone}` : zone;
    const distance = type === 'MX' ? (rrdistance ?? '10') : '0';
    const beside = records.filter((r) => r !== old && r.host === host);
    if (beside.some((r) => r.type === type && r.value === rrvalue && r.distance === distance))
      return no(280, 'could not add resource record to domain since it already exists (duplicate)');
    if (type === 'CNAME' ? beside.length : beside.some((r) => r.type === 'CNAME'))
      return no(280, 'a CNAME cannot be beside other records');
    const record_id = createHash('md5').update(String(made++)).digest('hex');
    const record = { record_id, type, host, value: rrvalue, ttl: rrttl, distance };
    if (old) records[records.indexOf(old)] = record;
    else records.push(record);
    return yes(`<record_id>${record_id}</record_id>`);
  });
  return Object.assign(standIn, { records, domains, most });
}
