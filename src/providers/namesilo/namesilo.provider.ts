import type { DnsRecord, RemoteRecord } from '../../dns/record.js';
import { listIn, listOf } from '../kit/http/body.js';
import { cutShort, errorHooks, needed, orNull } from '../kit/http/errors.js';
import { allPages } from '../kit/http/pages.js';
import { fromList } from '../kit/records/from-records.js';
import { plainRecord } from '../kit/records/plain-record.js';
import { readEach } from '../kit/values/unreadable.js';
import { refuseRoot, refuseText } from '../kit/values/value-limits.js';
import { dayOf, zoneInfo, zoneOf } from '../kit/zone/zones.js';
import type { Connect, RemoteZone } from '../provider.js';

/** Elements of an answer (recorded 2016 to 2018): full names without final dot, texts raw. */
type Row = Record<'record_id' | 'type' | 'host' | 'value' | 'ttl' | 'distance', string>;
type Reply<T> = { code?: string; detail?: string } & T;
type Answer<T> = { namesilo?: { reply?: Reply<T> } };
/** Newer answers have the dates as attributes (documentation). */
type Domain = string | { '#text': string };
type Domains = { domains?: { domain?: Domain | Domain[] } | ''; pager?: { total?: string } };

const errorOf = (body: unknown) => {
  const { code = '300', detail: message = 'It failed' } = (body as Answer<object> | undefined)?.namesilo?.reply ?? {};
  return code !== '300' && { code, message };
};
// documentation ("API response codes"); 200 and 280, which stands for all that is wrong with a record, recorded 2018
const AUTH = ['109', '110', '111', '112', '113'];
const KINDS = { auth: AUTH, not_found: ['200'], unavailable: ['115', '201'], rate_limit: ['400'] };
// XML has no blanks at the ends of a text
const NEVER = [[/^\s|\s$|^$/, 'a blank at either end, or nothing']] as const;

export const connect: Connect = ({ api_key: key }, context) => {
  const http = context.http.extend({ answers: 'xml', ...errorHooks(errorOf, KINDS) });
  const call = async <T>(operation: string, given: object, more = {}): Promise<Reply<T>> => {
    const query = { version: 1, type: 'xml', key, ...given };
    const answer = await http.get<Answer<T> | undefined>(`/${operation}`, { query, ...more });
    const reply = answer?.namesilo?.reply;
    if (reply?.code !== '300') throw cutShort('reply');
    return reply;
  };
  /** All are GET; those that write answer the id that the record has from now on. */
  const write = async (operation: string, zone: RemoteZone, given: object, before?: RemoteRecord): Promise<string> => {
    const more = { reads: false, idempotent: operation !== 'dnsAddRecord' };
    const query = { domain: zone.id, rrid: before?.remoteId, ...given };
    const { record_id } = await call<{ record_id?: string }>(operation, query, more);
    return operation === 'dnsDeleteRecord' ? '' : needed(record_id, 'id');
  };
  const records = async (zone: RemoteZone): Promise<RemoteRecord[]> => {
    const reply = await call<{ resource_record?: Row | Row[] }>('dnsListRecords', { domain: zone.id });
    const rows = listOf(reply.resource_record);
    return readEach(rows, zone.name, fromApi);
  };
  const details = (name: string) => call<{ expires?: string }>('getDomainInfo', { domain: name });

  return {
    check: async () => void (await call('listDomains', { page: 1, pageSize: 10 })),
    async listZones() {
      const domains = await allPages(nameOf, async ({ page }) => {
        const { domains: list, pager } = await call<Domains>('listDomains', { page, pageSize: 100 });
        const entries = listIn<Domain, 'domain'>(list, 'domain');
        return pager === undefined ? { entries, next: null } : { entries, total: Number(pager.total) };
      });
      return domains.map((domain) => zoneOf(nameOf(domain)));
    },
    findZone: (name) => orNull(details(name).then(() => ({ id: name, name }))),
    zoneInfo: async ({ id }) => zoneInfo({ expiresAt: dayOf((await details(id)).expires, '00:00:00Z') }),
    ...fromList(records, {
      judge: toApi,
      fixed: ['type'],
      createRecord: (zone, record) => write('dnsAddRecord', zone, { rrtype: record.type, ...toApi(record) }),
      updateRecord: (zone, before, after) => write('dnsUpdateRecord', zone, toApi(after), before),
      deleteRecord: (zone, before) => write('dnsDeleteRecord', zone, {}, before),
      vague: true,
      isDuplicate: (error) => /already exists/.test(error.message),
    }),
  };
};

const nameOf = (domain: Domain): string => (typeof domain === 'string' ? domain : domain['#text']);

const fromApi = ({ record_id: id, host: name, distance: priority, ...r }: Row, zone: string): RemoteRecord | null =>
  plainRecord({ ...r, id, name, priority }, zone);

function toApi(record: DnsRecord): object {
  refuseText(record, 'NameSilo', { never: NEVER });
  // it refuses final dots; of a dot alone nothing is known
  refuseRoot(record, 'NameSilo');
  const { host, value, ttl, priority } = record;
  return { rrhost: host === '@' ? '' : host, rrvalue: value, rrttl: ttl, rrdistance: priority ?? undefined };
}
