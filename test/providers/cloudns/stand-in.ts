import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

/** Codes of GeoDNS locations by their ids. */
const PLACES: Record<string, string> = { '12': 'US', '27': 'eu-west' };

interface StoredCloudns {
  id: string;
  type: string;
  host: string;
  ttl: string;
  status: number;
  [field: string]: string | number;
}

const TTLS = '60 300 900 1800 3600 21600 43200 86400 172800 259200 604800 1209600 2592000'.split(' ');
const TYPES = 'A AAAA MX CNAME TXT SPF NS SRV WR ALIAS RP SSHFP NAPTR CAA TLSA DS PTR'.split(' ');
/** Parameters of a type besides the usual ones. */
const OWN: Record<string, string[]> = {
  MX: ['record', 'priority'],
  SRV: ['record', 'priority', 'weight', 'port'],
  CAA: ['caa_flag', 'caa_type', 'caa_value'],
};

/** What the API does (traffic of 2018, the vendor's own clients, lego's tests). */
export async function startCloudns() {
  const world = { geo: true };
  const zones = ['contract.example'];
  const records: StoredCloudns[] = [];
  let ids = 69469245;
  const no = (statusDescription: string): Answer => ({ body: { status: 'Failed', statusDescription } });
  const yes = (statusDescription: string, data?: object): Answer => ({
    body: { status: 'Success', statusDescription, ...(data && { data }) },
  });

  /** A record of a form; a text: why it is refused. */
  function read(type: string, form: URLSearchParams): Record<string, string> | string {
    const host = form.get('host');
    const ttl = form.get('ttl') ?? '';
    if (host === null || host === '@') return 'Invalid host param.';
    if (!TTLS.includes(ttl)) return 'Invalid TTL. Choose from the list of the values we support.';
    const fields: Record<string, string> = { type, host, ttl };
    for (const name of OWN[type] ?? ['record']) {
      const value = form.get(name);
      if (value === null || value === '') return `Missing ${name}`;
      fields[name] = value;
    }
    const code = form.get('geodns-code');
    const place = form.get('geodns-location') ?? Object.keys(PLACES).find((one) => PLACES[one] === code);
    if ((code || place) && !PLACES[place ?? '']) return 'Invalid GeoDNS location.';
    // a record that is written without its place has none
    Object.assign(fields, { 'geodns-location': place ?? '0', 'geodns-location-code': PLACES[place ?? ''] ?? '' });
    const value = fields.record ?? '';
    if (type === 'TXT' && /["`]/.test(value)) return 'Invalid record param.';
    if (type === 'TXT') fields.record = value.trimEnd();
    if (type !== 'TXT' && value.endsWith('.')) fields.record = value.slice(0, -1);
    return fields;
  }
  const clash = (made: Record<string, string>, id?: string): string | null => {
    const beside = records.filter((r) => r.id !== id && r.host === made.host);
    const same = (r: StoredCloudns) =>
      r.type === made.type &&
      (r['geodns-location-code'] ?? '') === made['geodns-location-code'] &&
      (OWN[r.type] ?? ['record']).every((name) => r[name] === made[name]);
    if (beside.some(same)) return 'The record already exists.';
    const cname = made.type === 'CNAME' ? beside.length : beside.some((r) => r.type === 'CNAME');
    return cname ? 'CNAME cannot be beside other records.' : null;
  };

  const standIn: StandIn = await startStandIn(({ method, path, headers, body, query }) => {
    if (method !== 'POST' || Object.keys(query).length) return { status: 405 };
    if (!String(headers['content-type']).startsWith('application/x-www-form-urlencoded')) return { status: 415 };
    const form = new URLSearchParams(String(body));
    const user = form.get('auth-id') === '1234' || form.get('sub-auth-id') === '77';
    if (!user || form.get('auth-password') !== 'a-password')
      return no('Invalid authentication, incorrect auth-id or auth-password.');
    const what = path.slice(1).replace('.json', '');
    if (what === 'login') return yes('Success login.');
    const size = Number(form.get('rows-per-page'));
    if (what === 'get-pages-count' || what === 'list-zones') {
      if (![10, 20, 30, 50, 100].includes(size)) return no('Invalid rows-per-page param.');
      if (what === 'get-pages-count') return { body: Math.ceil(zones.length / size) };
      const at = (Number(form.get('page')) - 1) * size;
      const page = zones.slice(at, at + size);
      return { body: page.map((name) => ({ name, type: 'master', zone: 'domain', status: '1' })) };
    }
    if (form.get('domain-name') !== 'contract.example') return no('Missing domain-name');
    if (what === 'get-geodns-locations') {
      if (!world.geo) return no('This is not a GEODNS zone.');
      const places = Object.entries({ '1': 'DEFAULT', ...PLACES });
      return { body: places.map(([id, code]) => ({ id, name: `Place ${code}`, parent_id: null, code })) };
    }
    const record = records.find((r) => r.id === form.get('record-id'));
    if (what === 'records') {
      const host = form.get('host');
      const type = form.get('type');
      const hit = records.filter((r) => (!host || r.host === host) && (!type || r.type === type));
      return { body: hit.length ? Object.fromEntries(hit.map((r) => [r.id, r])) : [] };
    }
    if (what === 'add-record') {
      const type = form.get('record-type') ?? '';
      if (!TYPES.includes(type)) return no('Invalid record-type param.');
      const made = read(type, form);
      if (typeof made === 'string') return no(made);
      const why = clash(made);
      if (why) return no(why);
      const id = String(ids++);
      records.push({ ...made, id, status: form.get('status') === '0' ? 0 : 1 } as StoredCloudns);
      return yes('The record was added successfully.', { id: Number(id) });
    }
    if (!record) return no('Invalid record-id param.');
    if (what === 'mod-record') {
      const made = read(record.type, form);
      if (typeof made === 'string') return no(made);
      const why = clash(made, record.id);
      if (why) return no(why);
      Object.assign(record, made);
      return yes('The record was modified successfully.');
    }
    if (what === 'change-record-status') {
      record.status = Number(form.get('status'));
      return yes(`The record is ${record.status ? '' : 'in'}active.`);
    }
    if (what !== 'delete-record') return { status: 404 };
    records.splice(records.indexOf(record), 1);
    return yes('The record was deleted successfully.');
  });
  return Object.assign(standIn, { records, zones, world });
}
