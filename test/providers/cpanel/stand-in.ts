import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

/** A line of the zone file; names as they stand there, absolute or relative. */
export interface StoredLine {
  dname: string;
  record_type: string;
  ttl: number;
  data: string[];
}

const ZONE = 'contract.example';
const TYPES = 'A AAAA AFSDB CAA CNAME DNAME DS HINFO LOC MX NAPTR NS PTR RP SRV TXT'.split(' ');
const NAMED: Record<string, number> = { CNAME: 0, NS: 0, PTR: 0, MX: 1, SRV: 3 };

/** What UAPI does (API reference and clients of 2026, samples of lego): HTTP 200, whatever is wrong. */
export async function startCpanel() {
  const soa: StoredLine = {
    ...{ dname: `${ZONE}.`, record_type: 'SOA', ttl: 86400 },
    data: ['ns1.example.net.', 'admin.example.net.', '2026010100', '3600', '1800', '1209600', '86400'],
  };
  const ns: StoredLine = { dname: `${ZONE}.`, record_type: 'NS', ttl: 86400, data: ['ns1.example.net.'] };
  const lines: StoredLine[] = [soa, ns];
  const domains = { main_domain: ZONE, addon_domains: ['addon.example'], parked_domains: ['parked.example'] };
  const fine = (data: unknown): Answer => ({
    body: { status: 1, data, errors: null, messages: null, warnings: null, metadata: { transformed: 1 } },
  });
  const no = (message: string): Answer => ({
    body: { status: 0, data: null, errors: [message], messages: null, warnings: null, metadata: {} },
  });
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  /** the comment and the control line before the records */
  const FIRST = 2;
  const absolute = ({ dname }: StoredLine) => (dname.endsWith('.') ? dname : dname ? `${dname}.${ZONE}.` : `${ZONE}.`);

  function wrong(all: readonly StoredLine[]): string | null {
    for (const line of all.slice(2)) {
      const { record_type: type, ttl, data } = line;
      if (!TYPES.includes(type)) return `The record type “${type}” is not supported.`;
      if (!Number.isInteger(ttl) || !Array.isArray(data) || !data.length) return 'The record is not complete.';
      if (!absolute(line).endsWith(`${ZONE}.`)) return `“${line.dname}” is not in the zone.`;
      if (type in NAMED && !data[NAMED[type] as number]) return `“${type}” needs a name.`;
      if (type === 'TXT' && data.some((text) => Buffer.byteLength(text) > 255))
        return 'A string has 255 bytes at most.';
      if (type !== 'TXT' && data.some((part) => /^"|"$/.test(part))) return 'Parts of rdata have no quotes.';
      const beside = all.filter((other) => other !== line && absolute(other) === absolute(line));
      if (type === 'CNAME' && beside.length) return `“${line.dname}” has a CNAME and others.`;
      if (beside.some((other) => other.record_type === type && `${other.data}` === `${data}`))
        return 'The record exists.';
    }
    return null;
  }

  const standIn: StandIn = await startStandIn(({ method, path, query, headers, body }) => {
    if (headers.authorization !== 'cpanel ada:a-token')
      return { status: 401, body: { status: 0, data: null, errors: ['Access denied'], metadata: {} } };
    if (path === '/execute/DomainInfo/list_domains') return fine({ ...domains, sub_domains: [`www.${ZONE}`] });
    const form = method === 'POST' ? new URLSearchParams(`${body}`) : new URLSearchParams(query);
    if (form.get('zone') !== ZONE) return no(`You do not control a DNS zone named ${form.get('zone')}.`);
    if (path === '/execute/DNS/parse_zone') {
      const records = lines.map(({ data, dname, ...line }, i) => ({
        ...{ type: 'record', line_index: FIRST + i, dname_b64: base64(dname), data_b64: data.map(base64) },
        ...line,
      }));
      const comment = { type: 'comment', line_index: 0, text_b64: base64('; cPanel') };
      return fine([comment, { type: 'control', line_index: 1, text_b64: base64('$TTL 14400') }, ...records]);
    }
    if (path !== '/execute/DNS/mass_edit_zone') return no('The function does not exist.');
    const [given, serial] = [form.get('serial'), lines[0]?.data[2]];
    if (given !== serial)
      return no(
        `The given serial number (${given}) does not match the DNS zone’s serial number (${serial}). Refresh your view.`,
      );
    const next: (StoredLine | null)[] = [...lines];
    for (const text of form.getAll('edit')) {
      const { line_index, ...line } = JSON.parse(text) as StoredLine & { line_index: number };
      if (!next[line_index - FIRST]) return no(`Line ${line_index} is no record.`);
      next[line_index - FIRST] = line;
    }
    for (const index of form.getAll('remove')) next[Number(index) - FIRST] = null;
    const added = form.getAll('add').map((text) => JSON.parse(text) as StoredLine);
    const all = [...next.filter((line) => line !== null), ...added];
    const why = wrong(all);
    if (why) return no(why);
    lines.splice(0, lines.length, ...all);
    soa.data[2] = String(Number(serial) + 1);
    return fine({ new_serial: soa.data[2] });
  });
  return Object.assign(standIn, { lines });
}
