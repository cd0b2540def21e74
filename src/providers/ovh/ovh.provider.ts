import { fullName } from '../../dns/names.js';
import { type DnsRecord, fromRdata, type RemoteRecord, rdataOf } from '../../dns/record.js';
import { txtFromInput, txtPresentation } from '../../dns/text.js';
import { cutShort, errorHooks, neededList } from '../kit/http/errors.js';
import { eachOf } from '../kit/http/pages.js';
import { fromList } from '../kit/records/from-records.js';
import { published } from '../kit/records/published.js';
import { changedPart, type RecordVerbs } from '../kit/records/record-verbs.js';
import { ovhSigner } from '../kit/signing/ovh.js';
import { readEach } from '../kit/values/unreadable.js';
import { zoneOf } from '../kit/zone/zones.js';
import type { Connect, RemoteZone } from '../provider.js';

/** As the API has it (recorded 2018): the apex is '', names relative where they have no final dot, TTL 0 the zone's. */
type ApiRecord = { id: number; fieldType: string; subDomain: string; target: string; ttl: number };

const BASES: Record<string, string> = { ca: 'https://ca.api.ovh.com/1.0', us: 'https://api.us.ovhcloud.com/1.0' };
const AUTH = ['INVALID_CREDENTIAL', 'NOT_CREDENTIAL', 'NOT_GRANTED_CALL', 'INVALID_KEY', 'INVALID_SIGNATURE'];
/** what TTL 0 means, as long as nobody changed the zone's SOA (seen by dnscontrol) */
const ZONE_TTL = 3600;
/** types of OVH's own that are TXT in DNS (seen by dnscontrol, octoDNS), and stay what they are there */
const TEXTS = ['TXT', 'SPF', 'DKIM', 'DMARC'];
const NAMES = ['CNAME', 'NS', 'PTR', 'MX', 'SRV'];
const SOURCES = { subDomain: ['host'], ttl: ['ttl'] } as const;

export const connect: Connect = ({ endpoint, region = '', ...credentials }, context) => {
  const baseUrl = endpoint ? undefined : BASES[region];
  const open = context.http.extend({ ...(baseUrl && { baseUrl }), ...errorHooks(errorsOf, { auth: AUTH }) });
  const http = open.extend(ovhSigner(credentials, () => open.get<number>('/auth/time')));
  const one = async (zone: RemoteZone, id: number | string) => whole(await http.get(pathOf(zone, id)));
  const records = async (zone: RemoteZone, query = {}): Promise<RemoteRecord[]> => {
    const list = await eachOf(await http.get<number[]>(pathOf(zone), { query }), (id) =>
      http.get<ApiRecord>(pathOf(zone, id)),
    );
    return readEach(list, zone.name, fromApi);
  };
  const verbs: RecordVerbs = {
    // identical records are for the client to prevent (recorded 2018)
    doubles: true,
    fixed: ['type'],
    async createRecord(zone, record) {
      const json = { fieldType: record.type, ...toApi(record) };
      return String(whole(await http.post(pathOf(zone), { json })).id);
    },
    async updateRecord(zone, before, after, changed) {
      // what did not change is sent as OVH has it: TTL 0, and the form of the text
      const { subDomain, target, ttl } = await one(zone, before.remoteId);
      const json = { subDomain, target, ttl, ...changedPart(toApi(after), changed, SOURCES) };
      await http.put(pathOf(zone, before.remoteId), { json });
      return before.remoteId;
    },
    deleteRecord: (zone, { remoteId }) => http.delete(pathOf(zone, remoteId)),
    readRecord: async (zone, { remoteId }) => fromApi(await one(zone, remoteId), zone.name),
    findRecords: (zone, record) =>
      records(zone, { fieldType: record.type === 'TXT' ? undefined : record.type, subDomain: subDomainOf(record) }),
  };
  return {
    check: async () => void (await http.get('/domain/zone')),
    listZones: async () =>
      neededList(await http.get<string[]>('/domain/zone'), 'list of zones').map((name) => zoneOf(name)),
    ...published(fromList(records, verbs), (zone) => http.post(pathOf(zone, 'refresh'), { idempotent: true })),
  };
};

const pathOf = (zone: RemoteZone, what: string | number = ''): string =>
  `/domain/zone/${encodeURIComponent(zone.id)}/${what === 'refresh' ? what : `record${what && `/${what}`}`}`;

function errorsOf(body: unknown) {
  const { message, errorCode = '' } = (body ?? {}) as Record<string, string | undefined>;
  return typeof message === 'string' ? [{ code: errorCode, message }] : [];
}

function whole(record: ApiRecord | null | undefined): ApiRecord {
  if (record && Number.isSafeInteger(record.id) && typeof record.target === 'string') return record;
  throw cutShort('record');
}

function fromApi({ id, fieldType, subDomain, target, ttl }: ApiRecord, zone: string): RemoteRecord | null {
  const type = TEXTS.includes(fieldType) ? 'TXT' : fieldType;
  const absolute = NAMES.includes(type) && !target.endsWith('.') ? `${target}.${zone}.` : target;
  // with and without quotes, as it was sent (recorded 2018)
  const rdata = type === 'TXT' ? txtPresentation(txtFromInput(target)) : absolute;
  const read = fromRdata(fullName(subDomain || '@', zone), type, rdata, ttl || ZONE_TTL, zone);
  return read && { ...read, remoteId: String(id) };
}

const subDomainOf = ({ host }: DnsRecord): string => (host === '@' ? '' : host);
const toApi = (record: DnsRecord) => ({ subDomain: subDomainOf(record), target: rdataOf(record), ttl: record.ttl });
