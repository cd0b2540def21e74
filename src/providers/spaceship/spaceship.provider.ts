import { fullName, toAscii } from '../../dns/names.js';
import { type DnsRecord, fromRdata, type RemoteRecord } from '../../dns/record.js';
import { txtPresentation } from '../../dns/text.js';
import { NotBegun } from '../kit/http/errors.js';
import { allPages } from '../kit/http/pages.js';
import { fromList } from '../kit/records/from-records.js';
import { inPlace } from '../kit/records/in-place.js';
import type { RecordVerbs } from '../kit/records/record-verbs.js';
import { derivedId } from '../kit/rrsets/record-set.js';
import { typedFields } from '../kit/values/rdata-fields.js';
import { readEach } from '../kit/values/unreadable.js';
import { refuseRoot, refuseText } from '../kit/values/value-limits.js';
import type { Connect, RemoteZone } from '../provider.js';

/** As the API has it (the vendor's Terraform provider): names relative, `@`; of SRV without the first two labels. */
type Item = { type: string; name: string; ttl: number; group?: { type: string } } & Record<string, unknown>;
type Domain = { name: string; expirationDate?: string };
type List<T> = { items?: T[]; total?: number };
type Failure = { detail?: string; data?: { field?: string; details?: string }[] };

/** Where the value of a type is that is one value. */
const VALUE = { A: 'address', AAAA: 'address', ALIAS: 'aliasName', CNAME: 'cname', NS: 'nameserver', PTR: 'pointer' };
const VALUES: Record<string, string> = { ...VALUE, TXT: 'value' };
const FIELDS = typedFields({ names: { flags: 'flag' } });
/** Writes name values, and may be repeated: a change of which half is carried out leaves both values, or none. */
const AGAIN = { busy: [500] };
/** What it refuses, or changes, besides texts and the root (its Terraform provider; dnscontrol 2026). */
const NEVER: [RegExp, string][] = [
  [/^NS @ /, 'sets the NS of the apex by itself'],
  [/^SRV (?!_[^. ]+\._)/, 'takes SRV only at names like _service._protocol'],
  [/^SRV \S+ \d+ 0 /, 'takes no SRV of port 0'],
];
/** It takes those for one record that differ in nothing but this (the same source). */
const beside = ({ type, value }: DnsRecord): string =>
  type === 'SRV' ? (value.split(' ')[0] ?? '') : value.toLowerCase();

export const connect: Connect = ({ api_key = '', api_secret = '' }, context) => {
  const http = context.http.extend({
    headers: { 'x-api-key': api_key, 'x-api-secret': api_secret },
    errorMessage: (body) => {
      const { detail, data = [] } = (body ?? {}) as Failure;
      return (
        [detail, ...data.map(({ field, details }) => `${field}: ${details}`)].filter(Boolean).join('; ') || undefined
      );
    },
  });
  const list = <T>(path: string, take: number, orderBy: string): Promise<T[]> =>
    allPages<T>(JSON.stringify, async ({ offset: skip }) => {
      const answer = await http.get<List<T> | undefined>(path, { query: { take, skip, orderBy } });
      return { entries: answer?.items, total: answer?.total ?? Number.NaN };
    });
  const domains = () => list<Domain>('/domains', 100, 'name');
  const records = async (zone: RemoteZone): Promise<RemoteRecord[]> => {
    const items = await list<Item>(pathOf(zone), 500, 'type');
    return readEach(items, zone.name, fromApi);
  };
  const find = async (zone: RemoteZone, { remoteId }: RemoteRecord): Promise<RemoteRecord | null> =>
    (await records(zone)).find((record) => record.remoteId === remoteId) ?? null;

  const verbs: RecordVerbs = {
    // what exists takes the new TTL; without `force` nothing else gives way
    async createRecord(zone, record) {
      refuse(record);
      const json = { force: false, items: [{ ...toApi(record), ttl: record.ttl }] };
      await http.put(pathOf(zone), { json, ...AGAIN });
      return derivedId(record);
    },
    async updateRecord(zone, before, after) {
      refuse(after);
      if (derivedId(after) === before.remoteId) return verbs.createRecord(zone, after);
      const alike = before.host === after.host && before.type === after.type && before.priority === after.priority;
      const oldFirst = (alike && beside(before) === beside(after)) || undefined;
      return inPlace(verbs, zone, before, after, oldFirst);
    },
    deleteRecord: (zone, before) => http.delete(pathOf(zone), { json: [toApi(before)], ...AGAIN }),
    ...{ readRecord: find, whole: true },
  };
  return {
    check: async () => void (await http.get('/domains', { query: { take: 1, skip: 0 } })),
    listZones: async () => (await domains()).map(({ name }) => ({ id: name, name: toAscii(name) })),
    // a call for one domain is allowed far less often than the list (the same source)
    async zoneInfo({ id }) {
      const expiresAt = (await domains()).find(({ name }) => name === id)?.expirationDate ?? null;
      return { lines: [], minTtl: null, expiresAt, plan: null };
    },
    ...fromList(records, verbs),
  };
};

const pathOf = ({ id }: RemoteZone): string => `/dns/records/${encodeURIComponent(id)}`;

function fromApi(item: Item, zone: string): RemoteRecord | null {
  const { type, name, ttl, group, ...fields } = item;
  const labels = type === 'SRV' ? [fields.service, fields.protocol, name] : [name];
  const host = labels.filter((label) => label && label !== '@').join('.') || '@';
  const one = fields[VALUES[type] ?? ''];
  const value = type === 'TXT' && typeof one === 'string' ? txtPresentation(one) : one;
  const rdata = type === 'MX' ? `${fields.preference} ${fields.exchange}` : (value ?? FIELDS.rdata(type, fields));
  const read = fromRdata(fullName(host, zone), type, String(rdata ?? JSON.stringify(fields)), ttl, zone);
  const given = group !== undefined && group.type !== 'custom';
  const readOnly = read?.readOnly || given || (type === 'NS' && host === '@');
  return read && { ...read, remoteId: derivedId(read), readOnly };
}

function refuse(record: DnsRecord): void {
  refuseText(record, 'Spaceship', { never: [[/^\s*$|\s$/, 'nothing but blanks, or a blank at its end']] });
  refuseRoot(record, 'Spaceship');
  const why = NEVER.find(([looks]) => looks.test(`${record.type} ${record.host} ${record.value}`))?.[1];
  if (why) throw new NotBegun('rejected', `Spaceship ${why}`);
}

/** A record without its TTL, which is no part of what it is known by. */
function toApi(record: DnsRecord): object {
  const { host, type, value, priority } = record;
  if (type === 'MX') return { type, name: host, exchange: value, preference: priority };
  if (type !== 'SRV') return { type, name: host, ...(FIELDS.of(record) ?? { [VALUES[type] ?? 'value']: value }) };
  const [, service, protocol, name = '@'] = /^(_[^.]+)\.(_[^.]+)(?:\.(.+))?$/.exec(host) ?? [];
  return { type, name, service, protocol, ...FIELDS.of(record) };
}
