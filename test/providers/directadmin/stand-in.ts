import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

/** A line of the zone file: the name and the value as they were sent; of an MX the value is `10 mail`. */
export type Line = { type: string; name: string; value: string; ttl: string };

const ORDER = ['A', 'NS', 'MX', 'CNAME', 'PTR', 'TXT', 'SRV', 'CAA', 'AAAA'];
const coded = (text: string) => text.replace(/[^\w.:-]/g, encodeURIComponent);

/** What a server does (traffic of 2019, the vendor's pages on its API and its hooks, WHMCS's and lego's clients). */
export async function startDirectadmin(): Promise<StandIn & { lines: Line[] }> {
  const domain = 'contract.example';
  const lines: Line[] = ['ns1', 'ns2'].map((host) => ({
    ...{ type: 'NS', name: `${domain}.`, value: `${host}.panel.example.`, ttl: '14400' },
  }));
  const no = (error: string, result: string): Answer => ({ status: 500, body: { error, result } });
  const full = (name: string) => (/\.$/.test(name) ? name : `${name}.${domain}.`);
  const same = (a: Line, b: Line) => a.type === b.type && full(a.name) === full(b.name) && a.value === b.value;

  /** A line as it is listed; NS show no TTL, an MX its owner only where that is asked for. */
  const listed = ({ type, name, value, ttl }: Line, isFull: boolean) => {
    const [priority = '', target = ''] = value.split(' ');
    const [shown, what] = type === 'MX' && !isFull ? [target, priority] : [name, value];
    const combined = `name=${coded(shown)}&value=${coded(what)}`;
    return { type, name: shown, value: what, combined, ...(type !== 'NS' && { ttl }) };
  };
  /** Lines that are named in a form: `arecs0`, `arecs1` … */
  const meant = (form: Map<string, string>) =>
    [...form].flatMap(([key, words]) => {
      const type = /^(\w+?)recs\d+$/.exec(key)?.[1]?.toUpperCase();
      if (!type) return [];
      const [, name = '', value = ''] = /^name=(.*?)&value=(.*)$/s.exec(words) ?? [];
      const line = { type, name: decodeURIComponent(name), value: decodeURIComponent(value), ttl: '' };
      return [{ line, found: lines.find((one) => same(one, line)) }];
    });
  /** A line of a form; a text: why it is refused. */
  const read = (form: Map<string, string>): Line | string => {
    const [type = '', name = '', given = ''] = ['type', 'name', 'value'].map((key) => form.get(key));
    if (!ORDER.includes(type) || type === 'NS') return `Invalid record type ${type}`;
    if (full(name) !== `${domain}.` && !full(name).endsWith(`.${domain}.`)) return `${name} is not in this zone`;
    if (type === 'A' && !/^\d+(\.\d+){3}$/.test(given)) return `${given} is not a valid IP`;
    if (type === 'MX' && !(/^\d+$/.test(given) && form.get('mx_value'))) return 'Invalid MX value';
    if (given === '') return 'No value';
    const value = type === 'MX' ? `${given} ${form.get('mx_value')}` : given;
    return { type, name, value, ttl: form.get('ttl') || '14400' };
  };
  const clash = (made: Line, old?: Line): string | null => {
    const beside = lines.filter((one) => one !== old && full(one.name) === full(made.name));
    if (beside.some((one) => same(one, made))) return 'That record already exists';
    const cname = made.type === 'CNAME' ? beside.length : beside.some(({ type }) => type === 'CNAME');
    return cname ? 'A CNAME cannot be beside other records' : null;
  };

  const standIn = await startStandIn(({ method, path, query, headers, body }) => {
    const key = Buffer.from('panel-user:a-login-key').toString('base64');
    if (headers.authorization !== `Basic ${key}`) return { status: 401, body: 'Unauthorized' };
    const all = [domain, 'another.example'];
    if (path === '/CMD_API_SHOW_DOMAINS')
      return { body: query.json ? all : all.map((name) => `list[]=${name}`).join('&') };
    if (path !== '/CMD_API_DNS_CONTROL' || !query.json) return { status: 404, body: 'not found' };
    const form = new Map([...Object.entries(query), ...new URLSearchParams(String(body ?? ''))]);
    if (form.get('domain') !== domain) return no('Cannot View Dns Record', 'Domain does not belong to you');
    const action = form.get('action');
    if (method === 'GET' && !action) {
      const sorted = lines.toSorted((a, b) => ORDER.indexOf(a.type) - ORDER.indexOf(b.type));
      const records = sorted.map((line) => listed(line, form.has('full_mx_records')));
      return { body: { records, dnssec: '1', dns_ttl: '1', dns_caa: '1', full_mx_records: '1' } };
    }
    const named = meant(form);
    if (action === 'select' && form.has('delete')) {
      for (const { found } of named) if (found) lines.splice(lines.indexOf(found), 1);
      const gone = named.flatMap(({ line, found }) =>
        found ? [] : [`${line.name} ${line.type} ${line.value} did not exist`],
      );
      return { body: { result: gone.join('\n'), success: 'Records Deleted' } };
    }
    if (action !== 'add' && action !== 'edit') return no('Invalid action', '');
    const made = read(form);
    if (typeof made === 'string') return no('Error with the record', made);
    const old = action === 'edit' ? named[0]?.found : undefined;
    const why = clash(made, old);
    if (why) return no('Error with the record', why);
    if (old) lines[lines.indexOf(old)] = made;
    else lines.push(made);
    return { body: { result: '', success: 'record added' } };
  });
  return Object.assign(standIn, { lines });
}
