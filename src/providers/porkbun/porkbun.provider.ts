import { type DnsRecord, fromRdata, type RemoteRecord, rdataOf, sameRecord } from '../../dns/record.js';
import { txtPresentation } from '../../dns/text.js';
import { needed } from '../kit/http/errors.js';
import { allPages } from '../kit/http/pages.js';
import { fromList } from '../kit/records/from-records.js';
import { inList, orGone } from '../kit/records/in-place.js';
import { readEach } from '../kit/values/unreadable.js';
import { refuseText } from '../kit/values/value-limits.js';
import { zoneInfo, zoneOf } from '../kit/zone/zones.js';
import type { Connect, RemoteZone } from '../provider.js';

/** As the API answers it (recorded 2024): full names, numbers as texts, targets without final dot, texts not quoted. */
type ApiRecord = Record<'id' | 'name' | 'type' | 'content' | 'ttl', string> & Partial<Record<'prio' | 'notes', string>>;
type ApiDomain = { domain: string; expireDate?: string };
type Answer = { status?: string; message?: string; id?: number; records?: ApiRecord[]; domains?: ApiDomain[] };
const WRITES = { reads: false, idempotent: true };
const hooks = {
  failed: (body: unknown) => (body as Answer | undefined)?.status !== 'SUCCESS',
  errorMessage: (body: unknown) => (body as Answer | null)?.message,
  /** Errors have no codes: "Invalid domain." is recorded (2024), of keys "Invalid API key. (002)". */
  errorKind(status: number, body: unknown) {
    const { status: word, message = '' } = (body ?? {}) as Answer;
    if (status === 503) return 'rate_limit';
    if (status < 300 && word !== 'ERROR') return 'unavailable';
    return /^invalid domain/i.test(message) ? 'not_found' : /^invalid api key/i.test(message) ? 'auth' : undefined;
  },
} as const;

export const connect: Connect = ({ api_key: apikey, secret_api_key: secretapikey }, context) => {
  const http = context.http.extend(hooks);
  const call = (path: string, json: object = {}, is: { reads: boolean; idempotent?: boolean } = { reads: true }) =>
    http.post<Answer>(path, { json: { apikey, secretapikey, ...json }, ...is });
  // the end of the list is an empty page (Porkbun's documentation)
  const domains = () =>
    allPages(keyOf, async ({ offset: start }) => {
      const { domains: entries } = await call('/domain/listAll', { start: `${start}` });
      return { entries, next: entries?.length ? start + entries.length : null };
    });
  const records = async (zone: RemoteZone): Promise<RemoteRecord[]> => {
    const read = async () => ({ entries: (await call(`/dns/retrieve/${zone.id}`)).records, next: null });
    return readEach(await allPages(keyOf, read), zone.name, fromApi);
  };
  const readRecord = inList(records);
  return {
    check: async () => void (await call('/ping')),
    listZones: async () => (await domains()).map(({ domain }) => zoneOf(domain)),
    async zoneInfo(zone) {
      const end = new Date(`${(await domains()).find(({ domain }) => domain === zone.id)?.expireDate}Z`);
      return zoneInfo({ expiresAt: Number.isNaN(+end) ? null : end.toISOString() });
    },
    ...fromList(records, {
      whole: true,
      async createRecord(zone, record) {
        const { id } = await call(`/dns/create/${zone.id}`, toApi(record, true), { reads: false });
        return `${needed(id, 'id')}`;
      },
      // what is gone, and what is there already, is refused in the same words
      async updateRecord(zone, before, after, changed) {
        const edit = () => call(`/dns/edit/${zone.id}/${before.remoteId}`, toApi(after, changed.has('remark')), WRITES);
        const same = (held: RemoteRecord | null) => held && sameRecord(held, after) && held.ttl === after.ttl;
        await orGone(edit, () => readRecord(zone, before).then((held) => !same(held) && held));
        return before.remoteId;
      },
      deleteRecord: (zone, before) =>
        orGone(
          () => call(`/dns/delete/${zone.id}/${before.remoteId}`, {}, WRITES),
          () => readRecord(zone, before),
        ),
    }),
  };
};

const keyOf = (one: ApiDomain | ApiRecord): string => ('domain' in one ? one.domain : one.id);

function fromApi({ id, name, type, content, ttl, prio, notes }: ApiRecord, zone: string): RemoteRecord | null {
  const ranked = /^(MX|SRV)$/.test(type) ? `${prio ?? 0} ${content}` : content;
  const read = fromRdata(name, type, type === 'TXT' ? txtPresentation(content) : ranked, Number(ttl), zone);
  // the name servers of Porkbun itself are changed elsewhere (dnscontrol 2024)
  const fixed = read?.host === '@' && type === 'NS' && /\.porkbun\.com\.?$/.test(content);
  return read && { ...read, remoteId: id, remark: notes ?? '', readOnly: read.readOnly || fixed };
}

function toApi(record: DnsRecord, withNotes: boolean): object {
  // empty ones and blanks at the end are not kept (dnscontrol 2022)
  refuseText(record, 'Porkbun', { never: [[/^$|\s$/, 'nothing in it, or a blank at its end']] });
  const { host, type, value, ttl, priority, remark } = record;
  // parameters without quotes, the target absolute (dnscontrol 2026)
  const content = /^(HTTPS|SVCB)$/.test(type) ? rdataOf(record) : value;
  const [prio, notes] = [priority?.toString(), withNotes ? remark : undefined];
  return { name: host === '@' ? '' : host, type, content, ttl: `${ttl}`, prio, notes };
}
