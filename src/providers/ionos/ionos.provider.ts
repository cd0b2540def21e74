import { fullName } from '../../dns/names.js';
import { type DnsRecord, fromRdata, type RemoteRecord } from '../../dns/record.js';
import { txtFromInput, txtPresentation } from '../../dns/text.js';
import { cutShort, errorHooks, needed, neededList, type VendorError } from '../kit/http/errors.js';
import { fromList } from '../kit/records/from-records.js';
import type { RecordVerbs } from '../kit/records/record-verbs.js';
import { readEach } from '../kit/values/unreadable.js';
import { refuseRoot } from '../kit/values/value-limits.js';
import { zoneOf } from '../kit/zone/zones.js';
import type { Connect, RemoteZone } from '../provider.js';

/** As the API has it (recorded 2024): names absolute without final dot, `prio` of MX and SRV apart, TXT quoted. */
type ApiRecord = { id: string; name: string; type: string; content: string; ttl: number } & {
  prio?: number;
  disabled?: boolean;
};
type ApiZone = { id: string; name: string; records?: ApiRecord[] };

const KINDS = { auth: ['UNAUTHORIZED', 'FORBIDDEN'], not_found: ['ZONE_NOT_FOUND', 'RECORD_NOT_FOUND'] };
/** texts that are sent as they are (recorded 2024); all others quoted, as they are answered */
const PLAIN = /^(?! )[ !#-[\]-~]{1,255}(?<! )$/;

export const connect: Connect = (credentials, context) => {
  const http = context.http.extend({
    headers: { 'x-api-key': credentials.api_key ?? '' },
    ...errorHooks(errorsOf, KINDS),
  });
  const records = async (zone: RemoteZone, query = {}): Promise<RemoteRecord[]> => {
    const answer = await http.get<ApiZone | undefined>(pathOf(zone), { query });
    return readEach(neededList(answer?.records, 'records'), zone.name, fromApi);
  };
  const verbs: RecordVerbs = {
    // no recording, and no other client, tells how IONOS writes it
    judge: (record) => refuseRoot(record, 'IONOS'),
    // of an identical one IONOS makes a new record and drops the old one (recorded 2024)
    doubles: true,
    whole: true,
    // neither can be changed (documentation)
    fixed: ['host', 'type'],
    async createRecord(zone, record) {
      const json = [{ name: fullName(record.host, zone.name), type: record.type, ...toApi(record) }];
      const [made] = (await http.post<ApiRecord[] | undefined>(`${pathOf(zone)}/records`, { json })) ?? [];
      return needed(fromApi(made, zone.name), 'record that was made');
    },
    async updateRecord(zone, before, after) {
      const now = await http.put<ApiRecord | undefined>(pathOf(zone, before), { json: toApi(after) });
      return now?.id ? (fromApi(now, zone.name) ?? now.id) : before.remoteId;
    },
    deleteRecord: (zone, before) => http.delete(pathOf(zone, before)),
    readRecord: async (zone, before) => fromApi(await http.get<ApiRecord>(pathOf(zone, before)), zone.name),
    findRecords: (zone, { host, type }) => records(zone, { recordName: fullName(host, zone.name), recordType: type }),
  };
  return {
    check: async () => void (await http.get('/zones')),
    listZones: async () =>
      neededList(await http.get<ApiZone[]>('/zones'), 'list of zones').map(({ id, name }) => zoneOf(name, id)),
    ...fromList(records, verbs),
  };
};

const pathOf = (zone: RemoteZone, record?: RemoteRecord): string =>
  `/zones/${encodeURIComponent(zone.id)}${record ? `/records/${encodeURIComponent(record.remoteId)}` : ''}`;

/** Errors come as a list, as do answers that are none. */
const errorsOf = (body: unknown): VendorError[] =>
  [body].flat().flatMap((one) => {
    const { code, message = code } = (one ?? {}) as Partial<VendorError>;
    return typeof code === 'string' ? [{ code, message: String(message) }] : [];
  });

function fromApi(record: ApiRecord | undefined, zone: string): RemoteRecord | null {
  if (typeof record?.id !== 'string' || typeof record.content !== 'string') throw cutShort('complete record');
  const { id, name, type, content, ttl, prio = 0, disabled = false } = record;
  const text = type === 'TXT' ? txtPresentation(txtFromInput(content)) : content;
  const read = fromRdata(name, type, type === 'MX' || type === 'SRV' ? `${prio} ${text}` : text, ttl, zone);
  return read && { ...read, remoteId: id, enabled: !disabled };
}

function toApi({ type, value, ttl, priority, enabled }: DnsRecord) {
  const content = type === 'TXT' && !PLAIN.test(value) ? txtPresentation(value) : value;
  return { content, ttl, prio: priority ?? 0, disabled: !enabled };
}
