import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

export type BunnyRecord = { Id: number; Type: number; Name: string; Value: string; Ttl: number } & Record<
  string,
  unknown
>;

const KNOWN = [
  ...['Type', 'Ttl', 'Value', 'Name', 'Weight', 'Priority', 'Flags', 'Tag', 'Port', 'Disabled', 'Comment'],
  ...['MonitorType', 'SmartRoutingType', 'Accelerated', 'AutoSslIssuance'],
];
const FRESH = { Weight: 100, Priority: 0, Flags: 0, Tag: '', Port: 0, Disabled: false, Comment: '', LinkName: '' };
const OWN = { MonitorType: 0, SmartRoutingType: 0, Accelerated: false, AutoSslIssuance: true, Ttl: 300 };
const [CNAME, TXT] = [2, 3];

/**
 * bunny.net's DNS as its documentation describes it (2026): one page of zones, at least 5, records in their zone,
 * updates without an answer. What an update leaves out is kept, or reset, as `forgets` says: that is not documented.
 */
export async function startBunny(): Promise<StandIn & { records: BunnyRecord[]; world: World }> {
  const world = { key: 'a-key', domains: ['contract.example'], page: 5, forgets: false };
  const records: BunnyRecord[] = [];
  let ids = 7_640_618;
  const no = (status: number, ErrorKey: string, Message: string, Field = ''): Answer => ({
    status,
    body: { ErrorKey, Field, Message },
  });
  const zoneOf = (id: number) => ({ Id: id, Domain: world.domains[id - 1], Nameserver1: 'kiki.bunny.net' });
  const wrong = (r: BunnyRecord): string | null => {
    if (!r.Value) return 'The value of the record is required';
    if (r.Type !== TXT && /\.$/.test(r.Value) && r.Value !== '.') return 'The value ends with a dot';
    const beside = records.filter((o) => o.Name === r.Name && o.Id !== r.Id);
    const alone = r.Name !== '' && (r.Type === CNAME ? beside.length > 0 : beside.some((o) => o.Type === CNAME));
    return alone ? 'A CNAME record cannot stand beside other records' : null;
  };
  const standIn = await startStandIn(({ method, path, query, headers, body }) => {
    if (headers.accesskey !== world.key) return no(401, 'auth.failed', 'The request authorization failed');
    const [, , zoneId, , recordId] = path.split('/');
    if (!zoneId) {
      const hits = world.domains.flatMap((name, i) => (name.includes(query.search ?? '') ? [zoneOf(i + 1)] : []));
      const size = Math.min(Number(query.perPage ?? 1000), world.page);
      const [from, to] = [(Number(query.page ?? 1) - 1) * size, Number(query.page ?? 1) * size];
      const list = hits.slice(from, to);
      return { body: { CurrentPage: 1, TotalItems: hits.length, HasMoreItems: to < hits.length, Items: list } };
    }
    const zone = zoneOf(Number(zoneId));
    if (!zone.Domain) return no(404, 'dnszone.not_found', 'The requested DNS zone was not found');
    if (method === 'GET') return { body: { ...zone, Records: records } };
    const at = records.findIndex((r) => r.Id === Number(recordId));
    if (recordId && at < 0) return no(404, 'dnsrecord.not_found', 'The requested DNS record was not found');
    if (method === 'DELETE') {
      records.splice(at, 1);
      return { status: 204 };
    }
    const given = Object.fromEntries(Object.entries(body as object).filter(([field]) => KNOWN.includes(field)));
    const blank = { Type: 0, Name: '', Value: '' };
    const was = recordId && !world.forgets ? records[at] : blank;
    const made: BunnyRecord = { ...OWN, ...FRESH, ...was, ...given, Id: recordId ? Number(recordId) : ids };
    const why = wrong(made);
    if (why) return no(400, 'validation_error', why, 'Value');
    if (recordId) {
      // nobody has been seen to change these
      if (made.Type !== records[at]?.Type || made.Name !== records[at]?.Name)
        return no(400, 'validation_error', 'Type');
      records[at] = made;
      return { status: 204 };
    }
    ids++;
    records.push(made);
    return { status: 201, body: made };
  });
  return Object.assign(standIn, { records, world });
}

interface World {
  key: string;
  domains: string[];
  page: number;
  forgets: boolean;
}
