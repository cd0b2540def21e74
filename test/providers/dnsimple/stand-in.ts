import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

export interface StoredRecord {
  id: number;
  zone_id: string;
  name: string;
  type: string;
  content: string;
  ttl: number;
  priority: number | null;
  regions: string[];
  system_record: boolean;
}

const ZONE = 'contract.example';
const TYPES = 'A AAAA ALIAS CAA CNAME DS MX NAPTR NS PTR SRV SSHFP TXT'.split(' ');

/** What the API does (official answers of 2016 to 2025, dnscontrol 2023): accounts in the path, pages with totals. */
export async function startDnsimple(): Promise<
  StandIn & {
    records: StoredRecord[];
    zones: { id: number; name: string; secondary: boolean }[];
    most: { page: number };
    /** of a user's token there is no account, but a list of them */
    who: { account: { id: number } | null; accounts: { id: number }[] };
  }
> {
  const records: StoredRecord[] = [];
  const zones = [{ id: 1, name: ZONE, secondary: false }];
  const most = { page: 100 };
  const who = { account: { id: 1010 } as { id: number } | null, accounts: [{ id: 1010 }] };
  let ids = 67623409;
  const no = (status: number, message: string, errors?: object): Answer => ({
    status,
    body: { message, ...(errors ? { errors } : {}) },
  });
  const invalid = (field: string, words: string) => no(400, 'Validation failed', { [field]: [words] });

  const standIn = await startStandIn(({ method, path, query, headers, body }) => {
    if (headers.authorization !== 'Bearer a-token') return no(401, 'Authentication failed');
    const page = (all: object[]): Answer => {
      const per_page = Math.min(Number(query.per_page ?? 30), most.page);
      const current_page = Number(query.page ?? 1);
      const total_pages = Math.max(1, Math.ceil(all.length / per_page));
      const data = all.slice((current_page - 1) * per_page, current_page * per_page);
      return { body: { data, pagination: { current_page, per_page, total_entries: all.length, total_pages } } };
    };
    if (path === '/whoami') return { body: { data: { user: who.account ? null : { id: 7 }, account: who.account } } };
    if (path === '/accounts') return { body: { data: who.accounts } };
    const [, account, what, zone, records_, id] = path.split('/').map(decodeURIComponent);
    if (account !== '1010' || what !== 'zones') return no(404, 'Not found');
    if (!zone) return page(zones);
    if (zone !== ZONE || records_ !== 'records') return no(404, `Zone \`${zone}\` not found`);
    const now = records.find((r) => String(r.id) === id);
    if (id && !now) return no(404, `Record \`${id}\` not found`);
    if (method === 'GET')
      return now
        ? { body: { data: now } }
        : page(
            records.filter(
              (r) => (query.type ?? r.type) === r.type && (query.name === undefined || query.name === r.name),
            ),
          );
    if (method === 'DELETE') {
      records.splice(records.indexOf(now as StoredRecord), 1);
      return { status: 204 };
    }
    const given = body as Partial<StoredRecord>;
    if (now && given.type !== undefined) return invalid('type', 'cannot be changed');
    const base = { zone_id: ZONE, ttl: 3600, priority: null, regions: ['global'], system_record: false };
    const made = { ...base, ...now, ...given, id: now?.id ?? ids++ } as StoredRecord;
    const { name, type, content } = made;
    if (!TYPES.includes(type)) return invalid('record_type', 'unsupported');
    if (!content) return invalid('content', "can't be blank");
    if (type === 'TXT' && content.length > 4000) return invalid('content', 'is too long');
    const beside = records.filter((r) => r.id !== made.id && r.name === name);
    if (beside.some((r) => r.type === type && r.content === content && r.priority === made.priority))
      return invalid('base', 'Zone record already exists');
    if (beside.length && (type === 'CNAME' || beside.some((r) => r.type === 'CNAME')))
      return invalid('base', 'CNAME and other records');
    if (now) records[records.indexOf(now)] = made;
    else records.push(made);
    return { status: method === 'POST' ? 201 : 200, body: { data: made } };
  });
  return Object.assign(standIn, { records, zones, most, who });
}
