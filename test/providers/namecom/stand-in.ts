import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

export interface StoredNamecom {
  id: number;
  domainName: string;
  host?: string;
  fqdn: string;
  type: string;
  answer: string;
  ttl: number;
  priority?: number;
}

/** What the API does (the vendor's Go client, dnscontrol): empty fields are left out, a next page is named. */
export async function startNamecom(): Promise<
  StandIn & { records: StoredNamecom[]; domains: string[]; most: { page: number } }
> {
  const zone = 'contract.example';
  const domains = [zone];
  const records: StoredNamecom[] = [];
  const most = { page: 1000 };
  let ids = 1000;
  const no = (status: number, message: string, details?: string): Answer => ({
    status,
    headers: { 'content-type': 'text/html' },
    body: JSON.stringify({ message, ...(details && { details }) }),
  });

  /** A record of a body; a text: what is wrong with it. */
  function read(body: Record<string, unknown>, id: number): StoredNamecom | string {
    const { host = '', type, answer, ttl, priority } = body as Partial<StoredNamecom>;
    if (!type || !['A', 'AAAA', 'ANAME', 'CNAME', 'MX', 'NS', 'SRV', 'TXT'].includes(type)) return 'Invalid Type';
    if (!answer || answer.length > 512) return 'Invalid Answer';
    if (type === 'SRV' && !/^\d+ \d+ [^.\s]\S*$/.test(answer)) return 'Invalid Srv Format';
    if (type !== 'TXT' && answer.endsWith('.')) return 'Invalid Answer';
    if (!ttl || ttl < 300) return 'Invalid TTL';
    if (type === 'NS' && (host === '' || host === '@')) return 'Invalid Host';
    const name = host === '@' ? '' : host;
    const fqdn = `${name ? `${name}.` : ''}${zone}.`;
    const more = /^(MX|SRV)$/.test(type) && priority ? { priority } : {};
    return { id, domainName: zone, ...(name && { host: name }), fqdn, type, answer, ttl, ...more };
  }
  const clash = (made: StoredNamecom): string | null => {
    const beside = records.filter((r) => r.id !== made.id && r.fqdn === made.fqdn);
    if (beside.some((r) => r.type === made.type && r.answer === made.answer && r.priority === made.priority))
      return 'Duplicate Record';
    const cname = made.type === 'CNAME' ? beside.length : beside.some((r) => r.type === 'CNAME');
    return cname ? 'CNAME Conflict' : null;
  };

  const standIn = await startStandIn(({ method, path, query, headers, body }) => {
    const [scheme, credentials] = String(headers.authorization).split(' ');
    if (scheme !== 'Basic' || Buffer.from(String(credentials), 'base64').toString() !== 'ada:a-token')
      return no(401, 'Unauthenticated');
    const page = <T>(key: string, all: T[]): Answer => {
      const size = Math.min(most.page, Number(query.perPage ?? 1000));
      const number = Number(query.page ?? 1);
      const last = Math.max(1, Math.ceil(all.length / size));
      const more = number < last ? { nextPage: number + 1, lastPage: last } : {};
      return { body: { [key]: all.slice((number - 1) * size, number * size), ...more } };
    };
    if (path === '/domains')
      return page(
        'domains',
        domains.map((domainName) => ({ domainName, locked: true, expireDate: '2027-02-13T00:36:30Z' })),
      );
    const [, , name, sub, id] = path.split('/');
    if (name !== zone) return no(404, 'Not Found', 'Domain not found');
    if (!sub) return { body: { domainName: zone, nameservers: [], expireDate: '2027-02-13T00:36:30Z' } };
    if (!id && method === 'GET') return page('records', records);
    const found = records.find((r) => r.id === Number(id));
    if (id && !found) return no(404, 'Not Found');
    if (method === 'GET') return { body: found };
    if (method === 'DELETE') {
      records.splice(records.indexOf(found as StoredNamecom), 1);
      return { body: {} };
    }
    const made = read(body as Record<string, unknown>, found?.id ?? ids++);
    if (typeof made === 'string') return no(400, 'Parameter Value Error', made);
    if (found && found.type !== made.type) return no(400, 'Parameter Value Error', 'Type cannot change');
    const why = clash(made);
    if (why) return no(400, 'Invalid Argument', `Parameter Value Error - ${why}`);
    if (found) records[records.indexOf(found)] = made;
    else records.push(made);
    return { body: made };
  });
  return Object.assign(standIn, { records, domains, most });
}
