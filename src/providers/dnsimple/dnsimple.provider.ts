import { fullName, toAscii } from '../../dns/names.js';
import { type DnsRecord, fromRdata, type RemoteRecord } from '../../dns/record.js';
import { txtFromInput, txtPresentation } from '../../dns/text.js';
import { cutShort, NotBegun, ProviderError } from '../kit/http/errors.js';
import { allPages } from '../kit/http/pages.js';
import { fromRecords } from '../kit/records/from-records.js';
import { inPlace } from '../kit/records/in-place.js';
import { changedPart, type RecordVerbs } from '../kit/records/record-verbs.js';
import { refuseText } from '../kit/values/value-limits.js';
import type { Connect, RemoteZone } from '../provider.js';

/** As the API has it (official answers 2016 to 2025): names relative, targets without final dot, TXT kept as sent. */
type ApiRecord = { id: number; name: string; type: string; content: string; ttl: number; priority: number | null } & {
  regions?: string[];
  system_record?: boolean;
};
type ApiZone = { id: number; name: string; secondary?: boolean };
type Answer<T> = { data?: T; pagination?: { total_entries: number } } | undefined;
type Failure = { message?: string; errors?: object } | null;
const SOURCES = { name: ['host'], ttl: ['ttl'], priority: ['priority'], content: ['value'], type: [] } as const;
/** Texts that it refuses (dnscontrol 2023): empty ones, a blank at the end, an odd number of quotes. */
const NEVER = /^$|\s$|^[^"]*"(?:[^"]*"[^"]*")*[^"]*$/;
export const connect: Connect = ({ token, account_id }, context) => {
  const words = (body: Failure) => [body?.message ?? [], body?.errors ? JSON.stringify(body.errors) : []].flat();
  const http = context.http.extend({
    headers: { authorization: `Bearer ${token}` },
    errorMessage: (body) => words(body as Failure).join(': ') || undefined,
  });
  let known = account_id;
  const account = async (): Promise<string> => {
    if (known) return known;
    const who = (await http.get<Answer<{ account: { id: number } | null }>>('/whoami'))?.data;
    if (!who) throw cutShort('account');
    const all = who.account ? [who.account] : (await http.get<Answer<{ id: number }[]>>('/accounts'))?.data;
    if (all?.length !== 1) throw new ProviderError('auth', 'The token is of a user: the account id has to be given');
    known = `${all[0]?.id}`;
    return known;
  };
  const pathOf = async (zone: RemoteZone, record?: RemoteRecord): Promise<string> =>
    `/${await account()}/zones/${encodeURIComponent(zone.id)}/records${record ? `/${record.remoteId}` : ''}`;
  const list = <T extends { id: number }>(path: string, query: object = {}) =>
    allPages<T>(getId, async ({ page }) => {
      const answer = await http.get<Answer<T[]>>(path, { query: { ...query, page, per_page: 100 } });
      return { entries: answer?.data, total: answer?.pagination?.total_entries ?? Number.NaN };
    });
  const records = async (zone: RemoteZone, query = {}): Promise<RemoteRecord[]> =>
    (await list<ApiRecord>(await pathOf(zone), query)).flatMap((record) => fromApi(record, zone.name) ?? []);
  const one = (answer: Answer<ApiRecord>, zone: RemoteZone): RemoteRecord => {
    const read = answer?.data?.id && fromApi(answer.data, zone.name);
    if (!read) throw cutShort('record');
    return read;
  };
  const verbs: RecordVerbs = {
    createRecord: async (zone, record) => one(await http.post(await pathOf(zone), { json: toApi(record) }), zone),
    async updateRecord(zone, before, after, changed) {
      if (changed.has('type')) return inPlace(verbs, zone, before, after);
      const json = changedPart(toApi(after), changed, SOURCES);
      return one(await http.patch(await pathOf(zone, before), { json, idempotent: true }), zone);
    },
    deleteRecord: async (zone, before) => http.delete(await pathOf(zone, before)),
    readRecord: async (zone, before) => one(await http.get(await pathOf(zone, before)), zone),
    findRecords: (zone, { type }) => records(zone, { type }),
    isDuplicate: (error) => !(error instanceof NotBegun),
  };
  return {
    check: async () => void (await http.get(`/${await account()}/zones`, { query: { per_page: 1 } })),
    async listZones() {
      const all = await list<ApiZone>(`/${await account()}/zones`);
      return all.flatMap(({ name, secondary }) => (secondary ? [] : { id: name, name: toAscii(name) }));
    },
    listRecords: (zone) => records(zone),
    apply: fromRecords(verbs),
  };
};

const getId = ({ id }: { id: number }): number => id;
function fromApi(record: ApiRecord, zone: string): RemoteRecord | null {
  const { id, name, type, content, ttl, priority, regions = [], system_record } = record;
  const text = type === 'TXT' ? txtPresentation(txtFromInput(content)) : content;
  const rdata = /^(MX|SRV)$/.test(type) ? `${priority ?? 0} ${content}` : text;
  const read = fromRdata(fullName(name || '@', zone), type, rdata, ttl, zone);
  // its own records, the texts that go with an ALIAS, and what is answered in some regions only
  const fixed = system_record || /^"?ALIAS for /.test(content) || regions.some((region) => region !== 'global');
  return read && { ...read, remoteId: `${id}`, readOnly: read.readOnly || fixed };
}

function toApi(record: DnsRecord): object {
  refuseText(record, 'DNSimple', { bytes: 1000, never: [[NEVER, 'a blank at its end, unpaired quotes, or nothing']] });
  const { host, type, value, ttl, priority } = record;
  const content = type === 'TXT' ? txtPresentation(value) : value;
  return { name: host === '@' ? '' : host, type, content, ttl, ...(priority === null ? {} : { priority }) };
}
