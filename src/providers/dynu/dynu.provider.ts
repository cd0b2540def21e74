import type { DnsRecord, RemoteRecord } from '../../dns/record.js';
import { errorHooks, needed, neededList, ProviderError, type VendorError } from '../kit/http/errors.js';
import { fromList } from '../kit/records/from-records.js';
import { orNoZone } from '../kit/records/in-place.js';
import { plainRecord } from '../kit/records/plain-record.js';
import { changedPart } from '../kit/records/record-verbs.js';
import { typedFields } from '../kit/values/rdata-fields.js';
import { readEach } from '../kit/values/unreadable.js';
import { refuseRoot } from '../kit/values/value-limits.js';
import { recordPath, zoneOf } from '../kit/zone/zones.js';
import type { Connect, RemoteZone } from '../provider.js';

/** As the API has it (recorded 2025): names relative, no final dots, texts raw, `content` the line of a zone file. */
type ApiRecord = { id: number; nodeName: string; recordType: string; ttl: number; state: boolean } & {
  [more: string]: unknown;
};
type Failure = Partial<VendorError> & { type?: string; exception?: Failure };

const FIELDS = typedFields({ names: { target: 'host' } });
/** The field of types that are one value. */
const FIELD: Record<string, string> = { A: 'ipv4Address', AAAA: 'ipv6Address', TXT: 'textData' };
const SOURCES = { ttl: ['ttl'], state: ['enabled'], nodeName: [], recordType: [] } as const;

// refusals are HTTP 501, of what is not there, too; 503 tells that the account may have no more records (lexicon 2025)
const HOOKS = errorHooks(
  (body) => {
    const { type = '', message = type } = ((body ?? {}) as Failure).exception ?? ((body ?? {}) as Failure);
    return !!message && { code: type, message };
  },
  { rejected: ['Quota Exception'] },
  { 501: 'rejected' },
);

export const connect: Connect = ({ api_key = '' }, context) => {
  const http = context.http.extend({ headers: { 'api-key': api_key }, ...HOOKS });
  const zones = async () => {
    const answer = await http.get<{ domains?: { id: number; name: string }[] } | undefined>('/dns');
    return neededList(answer?.domains, 'domains').map(({ id, name }) => zoneOf(name, id));
  };
  const list = (zone: RemoteZone) =>
    orNoZone(
      zone,
      async () => {
        const answer = await http.get<{ dnsRecords?: ApiRecord[] } | undefined>(pathOf(zone));
        return neededList(answer?.dnsRecords, 'records');
      },
      zones,
    );
  const records = async (zone: RemoteZone) => readEach(await list(zone), zone.name, fromApi);
  const written = (zone: RemoteZone, answer?: ApiRecord) => needed(answer?.id && fromApi(answer, zone.name), 'record');
  const find = async (zone: RemoteZone, { remoteId }: RemoteRecord) =>
    (await list(zone)).find(({ id }) => String(id) === remoteId);

  return {
    check: () => http.get('/dns'),
    listZones: zones,
    ...fromList(records, {
      judge: (record) => refuseRoot(record, 'Dynu'),
      // the name of a record cannot be changed (lexicon 2025)
      fixed: ['host', 'type'],
      // a creation that is repeated answers the record that is there (recorded 2025)
      ...{ doubles: 'moved', vague: true },
      createRecord: async (zone, record) => written(zone, await http.post(pathOf(zone), { json: toApi(record) })),
      async updateRecord(zone, before, after, changed) {
        const held = await find(zone, before);
        if (!held) throw new ProviderError('not_found', 'There is no such record at Dynu any more', false);
        // what is left out falls back to a default (recorded 2025)
        const { id: _id, domainId: _zone, domainName: _name, hostname: _host, content: _line, ...theirs } = held;
        const { updatedOn: _time, ...kept } = theirs;
        const json = { ...kept, ...changedPart(toApi(after), changed, SOURCES) };
        return written(zone, await http.post(pathOf(zone, before), { json, idempotent: true }));
      },
      deleteRecord: (zone, before) => http.delete(pathOf(zone, before)),
    }),
  };
};

const pathOf = recordPath('/dns', 'record');

function fromApi(record: ApiRecord, zone: string): RemoteRecord | null {
  const { id, nodeName: host, recordType: type, ttl, state, content } = record;
  const line = /^\S+ \d+ IN \S+ (.*)$/s.exec(`${content ?? ''}`)?.[1] ?? `${content ?? ''}`;
  const value = FIELDS.rdata(type, record) ?? record[FIELD[type] ?? 'host'] ?? line;
  return plainRecord({ id, host, type, value: `${value}`, ttl }, zone, { enabled: state !== false });
}

function toApi(record: DnsRecord): object {
  const { host, type, value, ttl, enabled } = record;
  const data = FIELDS.of(record) ?? { [FIELD[type] ?? 'host']: value };
  return { recordType: type, state: enabled, nodeName: host === '@' ? '' : host, ttl, ...data };
}
