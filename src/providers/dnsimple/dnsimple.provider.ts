import { fullName } from '../../dns/names.js';
import { type DnsRecord, fromRdata, type RemoteRecord } from '../../dns/record.js';
import { txtFromInput, txtPresentation } from '../../dns/text.js';
import { needed, ProviderError, wordsIn } from '../kit/http/errors.js';
import { allPages, byId } from '../kit/http/pages.js';
import { fromList } from '../kit/records/from-records.js';
import { changedPart } from '../kit/records/record-verbs.js';
import { readEach } from '../kit/values/unreadable.js';
import { refuseText } from '../kit/values/value-limits.js';
import { zoneOf } from '../kit/zone/zones.js';
import type { Connect, RemoteZone } from '../provider.js';

/** As the API has it (official answers 2016 to 2025): names relative, targets without final dot, TXT kept as sent. */
type ApiRecord = { id: number; name: string; type: string; content: string; ttl: number; priority: number | null } & {
  regions?: string[];
  system_record?: boolean;
};
type ApiZone = { id: number; name: string; secondary?: boolean };
type Answer<T> = { data?: T; pagination?: { total_entries: number } } | undefined;
const SOURCES = { name: ['host'], ttl: ['ttl'], priority: ['priority'], content: ['value'], type: [] } as const;
/** Texts that it refuses (dnscontrol 2023): empty ones, a blank at the end, an odd number of quotes. */
const NEVER = /^$|\s$|^[^"]*"(?:[^"]*"[^"]*")*[^"]*$/;

export const connect: Connect = ({ token, account_id }, context) => {
  const headers = { authorization: `Bearer ${token}` };
  const http = context.http.extend({ headers, errorMessage: wordsIn('message', 'errors') });
  let known = account_id;
  const account = async (): Promise<string> => {
    if (known) return known;
    const who = needed((await http.get<Answer<{ account: { id: number } | null }>>('/whoami'))?.data, 'account');
    const all = who.account ? [who.account] : (await http.get<Answer<{ id: number }[]>>('/accounts'))?.data;
    if (all?.length !== 1) throw new ProviderError('auth', 'The token is of a user: the account id has to be given');
    known = `${all[0]?.id}`;
    return known;
  };
  const pathOf = async (zone: RemoteZone, record?: RemoteRecord): Promise<string> =>
    `/${await account()}/zones/${encodeURIComponent(zone.id)}/records${record ? `/${record.remoteId}` : ''}`;
  const list = <T extends { id: number }>(path: string, query: object = {}) =>
    allPages<T>(byId, async ({ page }) => {
      const answer = await http.get<Answer<T[]>>(path, { query: { ...query, page, per_page: 100 } });
      return { entries: answer?.data, total: answer?.pagination?.total_entries ?? Number.NaN };
    });
  const records = async (zone: RemoteZone, query = {}): Promise<RemoteRecord[]> =>
    readEach(await list<ApiRecord>(await pathOf(zone), query), zone.name, fromApi);
  const one = (answer: Answer<ApiRecord>, zone: RemoteZone): RemoteRecord =>
    needed(answer?.data?.id && fromApi(answer.data, zone.name), 'record');

  return {
    check: async () => void (await http.get(`/${await account()}/zones`, { query: { per_page: 1 } })),
    async listZones() {
      const all = await list<ApiZone>(`/${await account()}/zones`);
      return all.flatMap(({ name, secondary }) => (secondary ? [] : zoneOf(name)));
    },
    ...fromList(records, {
      fixed: ['type'],
      createRecord: async (zone, record) => one(await http.post(await pathOf(zone), { json: toApi(record) }), zone),
      async updateRecord(zone, before, after, changed) {
        const json = changedPart(toApi(after), changed, SOURCES);
        return one(await http.patch(await pathOf(zone, before), { json, idempotent: true }), zone);
      },
      deleteRecord: async (zone, before) => http.delete(await pathOf(zone, before)),
      readRecord: async (zone, before) => one(await http.get(await pathOf(zone, before)), zone),
      findRecords: (zone, { type }) => records(zone, { type }),
    }),
  };
};

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
