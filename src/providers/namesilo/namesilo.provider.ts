import { toAscii } from '../../dns/names.js';
import { type DnsRecord, fromRdata, type RemoteRecord } from '../../dns/record.js';
import { txtPresentation } from '../../dns/text.js';
import { cutShort, errorHooks, ProviderError, type VendorError } from '../errors.js';
import { listIn, listOf } from '../http-body.js';
import { allPages } from '../pages.js';
import type { Connect, RemoteZone } from '../provider.js';
import { fromRecords, inPlace, orGone, type RecordVerbs } from '../records.js';
import { refuseRoot, refuseText } from '../texts.js';

/** Elements of an answer (recorded 2016 to 2018): full names without final dot, texts raw. */
type Row = Record<'record_id' | 'type' | 'host' | 'value' | 'ttl' | 'distance', string>;
type Reply<T> = { code?: string; detail?: string } & T;
type Answer<T> = { namesilo?: { reply?: Reply<T> } };
/** Newer answers have the dates as attributes (documentation). */
type Domain = string | { '#text': string };
type Domains = { domains?: { domain?: Domain | Domain[] } | ''; pager?: { total?: string } };

const errorsOf = (body: unknown): VendorError[] => {
  const { code = '300', detail = 'It failed' } = (body as Answer<object> | undefined)?.namesilo?.reply ?? {};
  return code === '300' ? [] : [{ code, message: detail }];
};
// documentation ("API response codes"); 200 and 280, which stands for all that is wrong with a record, recorded 2018
const KINDS = {
  auth: ['109', '110', '111', '112', '113'],
  not_found: ['200'],
  unavailable: ['115', '201'],
  rate_limit: ['400'],
};
// XML has no blanks at the ends of a text
const NEVER = [[/^\s|\s$|^$/, 'a blank at either end, or nothing']] as const;

export const connect: Connect = ({ api_key: key }, context) => {
  const http = context.http.extend({ answers: 'xml', ...errorHooks(errorsOf, KINDS) });
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
    const send = () => call<{ record_id?: string }>(operation, query, more);
    const { record_id } = await (before ? orGone(send, () => find(zone, before)) : send());
    if (!record_id && operation !== 'dnsDeleteRecord') throw cutShort('id').applied(true);
    return record_id ?? '';
  };
  const records = async (zone: RemoteZone): Promise<RemoteRecord[]> => {
    const reply = await call<{ resource_record?: Row | Row[] }>('dnsListRecords', { domain: zone.id });
    const rows = listOf(reply.resource_record);
    if (rows.some(({ record_id, type, host }) => !record_id || !type || !host)) throw cutShort('record');
    return rows.flatMap((row) => fromApi(row, zone.name) ?? []);
  };
  const find = async (zone: RemoteZone, { remoteId }: RemoteRecord): Promise<RemoteRecord | null> =>
    (await records(zone)).find((record) => record.remoteId === remoteId) ?? null;
  const details = (name: string) => call<{ expires?: string }>('getDomainInfo', { domain: name });

  const verbs: RecordVerbs = {
    createRecord: (zone, record) => write('dnsAddRecord', zone, { rrtype: record.type, ...toApi(record) }),
    updateRecord: async (zone, before, after, changed) => {
      const given = toApi(after);
      if (changed.has('type')) return inPlace(verbs, zone, before, after);
      return write('dnsUpdateRecord', zone, given, before);
    },
    deleteRecord: (zone, before) => write('dnsDeleteRecord', zone, {}, before),
    readRecord: find,
    findRecords: records,
    isDuplicate: (error) => /already exists/.test(error.message),
  };
  return {
    check: async () => void (await call('listDomains', { page: 1, pageSize: 10 })),
    async listZones() {
      const domains = await allPages(nameOf, async ({ page }) => {
        const { domains: list, pager } = await call<Domains>('listDomains', { page, pageSize: 100 });
        const entries = listIn<Domain, 'domain'>(list, 'domain');
        return pager === undefined ? { entries, next: null } : { entries, total: Number(pager.total) };
      });
      return domains.map((domain) => ({ id: nameOf(domain), name: toAscii(nameOf(domain)) }));
    },
    findZone: async (name) => {
      try {
        await details(name);
        return { id: name, name };
      } catch (error) {
        if (error instanceof ProviderError && error.kind === 'not_found') return null;
        throw error;
      }
    },
    async zoneInfo({ id }) {
      const { expires = '' } = await details(id);
      const expiresAt = /^\d{4}-\d\d-\d\d$/.test(expires) ? `${expires}T00:00:00Z` : null;
      return { lines: [], minTtl: null, expiresAt, plan: null };
    },
    listRecords: records,
    apply: fromRecords(verbs),
  };
};

const nameOf = (domain: Domain): string => (typeof domain === 'string' ? domain : domain['#text']);

function fromApi({ record_id: remoteId, type, host, value, ttl, distance }: Row, zone: string): RemoteRecord | null {
  const rdata = type === 'TXT' ? txtPresentation(value) : /MX|SRV/.test(type) ? `${distance} ${value}` : value;
  const read = fromRdata(host, type, rdata, Number(ttl), zone);
  return read && { ...read, remoteId };
}

function toApi(record: DnsRecord): object {
  refuseText(record, 'NameSilo', { never: NEVER });
  // it refuses final dots; of a dot alone nothing is known
  refuseRoot(record, 'NameSilo');
  const { host, value, ttl, priority } = record;
  return { rrhost: host === '@' ? '' : host, rrvalue: value, rrttl: ttl, rrdistance: priority ?? undefined };
}
