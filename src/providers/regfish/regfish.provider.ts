import { absolute, fullName, toAscii } from '../../dns/names.js';
import { type DnsRecord, fromRdata, type RemoteRecord } from '../../dns/record.js';
import { quoteBytes, txtPresentation } from '../../dns/text.js';
import { cutShort, errorHooks, orNull, type VendorError } from '../kit/http/errors.js';
import { allPages, byId } from '../kit/http/pages.js';
import { fromList } from '../kit/records/from-records.js';
import type { RecordVerbs } from '../kit/records/record-verbs.js';
import { typedFields } from '../kit/values/rdata-fields.js';
import { readEach } from '../kit/values/unreadable.js';
import { type Connect, listed, type RemoteZone } from '../provider.js';

/** As the API has it (recorded 2024; regfish's own client): names and targets absolute, texts as they are. */
type ApiRecord = { id: number; name: string; type: string; data: string; ttl: number } & Parts;
type Parts = { priority?: number | null; tag?: string | null; flags?: number | null } & State;
type State = { auto?: boolean; active?: boolean };
type Answer<T> = { response?: T } | undefined;

// codes recorded 2024; that of a record is that of a domain as well
const KINDS = { not_found: [15001] };
const FIELDS = typedFields({ names: { target: 'data', value: 'data' }, dots: true });

export const connect: Connect = ({ api_key = '', domains }, context) => {
  const http = context.http.extend({ headers: { 'x-api-key': api_key }, ...errorHooks(errorsOf, KINDS) });
  const names = listed(domains).map(toAscii);
  const list = (domain: string): Promise<ApiRecord[]> =>
    allPages(byId, async () => {
      const answer = await http.get<Answer<ApiRecord[]>>(`/dns/${encodeURIComponent(domain)}/rr`);
      return { entries: answer?.response, next: null };
    });
  const records = async (zone: RemoteZone): Promise<RemoteRecord[]> =>
    readEach(await list(zone.id), zone.name, fromApi);
  // nothing but the list of its records tells whether a domain is there
  const zoneOf = async (name: string): Promise<RemoteZone> => list(name).then(() => ({ id: name, name }));
  const written = (answer: Answer<ApiRecord>, { name }: RemoteZone): RemoteRecord => {
    const record = answer?.response && fromApi(answer.response, name);
    if (!record) throw cutShort('record').applied(true);
    return record;
  };
  const verbs: RecordVerbs = {
    ...{ whole: true, fixed: ['type'] },
    createRecord: async (zone, record) => written(await http.post('/dns/rr', { json: toApi(record, zone.name) }), zone),
    async updateRecord(zone, before, after) {
      const json = toApi(after, zone.name);
      return written(await http.patch(pathOf(before), { json, idempotent: true }), zone);
    },
    deleteRecord: (_zone, before) => http.delete(pathOf(before)),
    async readRecord(zone, before) {
      const read = (await http.get<Answer<ApiRecord>>(pathOf(before)))?.response;
      return read ? fromApi(read, zone.name) : null;
    },
    isDuplicate: ({ message }) => message.includes('code 15003'),
  };
  return {
    check: async () => void (await zoneOf(names[0] ?? '')),
    listZones: () => Promise.all(names.map(zoneOf)),
    findZone: (name) => orNull(zoneOf(name)),
    ...fromList(records, verbs),
  };
};

const pathOf = ({ remoteId }: RemoteRecord): string => `/dns/rr/${encodeURIComponent(remoteId)}`;

/** A success has the code 0, and maybe words in `error`; failures come with statuses of both sorts. */
function errorsOf(body: unknown): VendorError[] {
  const { code, error: message = '', success } = (body ?? {}) as { code?: number; error?: string; success?: boolean };
  return code || success === false ? [{ code: code ?? 0, message }] : [];
}

function fromApi({ id, name, type, data, ttl, auto, active = true, ...parts }: ApiRecord, zone: string) {
  if (!Number.isSafeInteger(id) || typeof data !== 'string') throw cutShort('complete record');
  const { priority, tag, flags } = parts;
  let rdata = type === 'TXT' ? txtPresentation(data) : data;
  if (type === 'CAA' && tag) rdata = `${flags ?? 0} ${tag} ${quoteBytes(Buffer.from(data))}`;
  else if (/^(MX|SRV)$/.test(type) && typeof priority === 'number') rdata = `${priority} ${data}`;
  const read = fromRdata(name, type, rdata, ttl, zone);
  // what regfish keeps itself, and what is off there, is not changed from here
  const readOnly = !!read?.readOnly || !!auto || !active;
  return read && { ...read, enabled: active, readOnly, remoteId: String(id) };
}

function toApi(record: DnsRecord, zone: string): object {
  const { host, type, value, ttl } = record;
  const data = /^(CNAME|ALIAS)$/.test(type) ? absolute(value) : value;
  return { type, name: `${fullName(host, zone)}.`, ttl, ...(FIELDS.of(record) ?? { data }) };
}
