import { fullName, toAscii } from '../../dns/names.js';
import { type DnsRecord, fromRdata, type RemoteRecord } from '../../dns/record.js';
import { txtPresentation } from '../../dns/text.js';
import { cutShort, ProviderError, wordsIn } from '../kit/http/errors.js';
import { allPages } from '../kit/http/pages.js';
import { fromList, isFound, refuseTwin } from '../kit/records/from-records.js';
import { inPlace } from '../kit/records/in-place.js';
import { typedFields } from '../kit/values/rdata-fields.js';
import { readEach } from '../kit/values/unreadable.js';
import { refuseText } from '../kit/values/value-limits.js';
import type { Connect, RemoteZone } from '../provider.js';

/** A record (documentation 2026; bunny's Terraform provider): apex empty, the type a number, in some answers a name. */
type ApiRecord = { Id: number; Type: number | string; Name?: string | null; Value?: string | null; Ttl: number } & {
  [field: string]: unknown;
};
type ApiZone = { Id: number; Domain: string; Records?: ApiRecord[] };
type Zones = { Items?: ApiZone[]; TotalItems?: number; HasMoreItems?: boolean };

/** by their numbers; those from 13 on by the word of newer clients only */
const TYPES = 'A AAAA CNAME TXT MX REDIRECT FLATTEN PULLZONE SRV CAA PTR SCRIPT NS SVCB HTTPS TLSA'.split(' ');
const NAMES = { priority: 'Priority', weight: 'Weight', port: 'Port', target: 'Value', flags: 'Flags', tag: 'Tag' };
const FIELDS = typedFields({ names: { ...NAMES, value: 'Value' } });
/** Weight of addresses that have not been given one (as the dashboard has it). */
const WEIGHT = 100;
/** Sent back as they came: whether an update keeps what is left out is not documented. */
const KEPT = ['Weight', 'Comment', 'MonitorType', 'AutoSslIssuance'];

export const connect: Connect = (credentials, context) => {
  const http = context.http.extend({
    headers: { accesskey: credentials.access_key ?? '' },
    errorMessage: wordsIn('Message'),
  });
  async function zones(search?: string): Promise<RemoteZone[]> {
    const all = await allPages(getId, async ({ page }) => {
      const answer = await http.get<Zones | undefined>('/dnszone', { query: { page, perPage: 100, search } });
      const next = answer?.HasMoreItems === false ? null : page + 1;
      return { entries: answer?.Items, total: answer?.TotalItems ?? Number.NaN, next };
    });
    return all.map(({ Id, Domain }) => ({ id: String(Id), name: toAscii(Domain) }));
  }
  async function read(zone: RemoteZone): Promise<ApiRecord[]> {
    const list = (await http.get<ApiZone | undefined>(`/dnszone/${zone.id}`))?.Records;
    if (!Array.isArray(list)) throw cutShort('records');
    return list;
  }
  async function one(zone: RemoteZone, { remoteId }: RemoteRecord): Promise<ApiRecord> {
    const found = (await read(zone)).find(({ Id }) => String(Id) === remoteId);
    if (!found) throw new ProviderError('not_found', `The zone has no record ${remoteId}`, false);
    return found;
  }
  const records = async (zone: RemoteZone) => readEach(await read(zone), zone.name, fromApi, typeOf);
  const plain = async (zone: RemoteZone) => (await records(zone)).filter((r) => !r.readOnly);
  const write = {
    async createRecord(zone: RemoteZone, record: DnsRecord) {
      const json = toApi(record);
      // nobody says that a second one is refused, and the answer to the same wish may have been lost
      refuseTwin(await plain(zone), record);
      const made = await http.put<ApiRecord>(pathOf(zone), { json, idempotent: false });
      return fromApi(made, zone.name) ?? String(made.Id);
    },
    deleteRecord: (zone: RemoteZone, record: RemoteRecord) => http.delete(pathOf(zone, record)),
  };

  return {
    check: async () => void (await http.get('/dnszone', { query: { page: 1, perPage: 5 } })),
    listZones: () => zones(),
    // the search finds parts of names
    findZone: async (name) => (await zones(name)).find((zone) => zone.name === name) ?? null,
    ...fromList(records, {
      ...{ ...write, whole: true },
      async updateRecord(zone, before, after, changed) {
        const json = toApi(after);
        const found = await one(zone, before);
        // bunny's own clients never change the name or the type of a record
        if (changed.has('host') || changed.has('type')) return inPlace(write, zone, before, after);
        const kept = Object.fromEntries(KEPT.map((field) => [field, found[field]]));
        await http.post(pathOf(zone, before), { json: { ...kept, ...json, Id: found.Id }, idempotent: true });
        return before.remoteId;
      },
      readRecord: async (zone, before) => fromApi(await one(zone, before), zone.name),
      findRecords: plain,
      isDuplicate: isFound,
    }),
  };
};

const getId = ({ Id }: ApiZone): number => Id;
const pathOf = (zone: RemoteZone, record?: RemoteRecord): string =>
  `/dnszone/${zone.id}/records${record ? `/${record.remoteId}` : ''}`;

const typeOf = ({ Type }: ApiRecord): string =>
  typeof Type === 'number' ? (TYPES[Type] ?? `BUNNY${Type}`) : `${Type}`.toUpperCase().slice(0, 16);

/** Types of bunny's own, and what it routes by place or sends through its CDN, are read-only. */
function fromApi(record: ApiRecord, zone: string): RemoteRecord | null {
  const { Id, Name, Value, Ttl, Weight, Comment, Disabled, SmartRoutingType, Accelerated } = record;
  const type = typeOf(record);
  const text = Value || `${record.LinkName ?? ''}`;
  const fields = /^(MX|SRV|CAA)$/.test(type) && FIELDS.rdata(type, record);
  const rdata = type === 'TXT' ? txtPresentation(text) : fields || text;
  const canonical = fromRdata(fullName(!Name || Name === '@' ? '@' : Name, zone), type, rdata, Ttl, zone);
  const weight = /^A(AAA)?$/.test(type) && typeof Weight === 'number' && Weight !== WEIGHT ? Weight : null;
  const routed = Accelerated === true || ![undefined, null, 0, 'None'].includes(SmartRoutingType as null);
  const own = { remoteId: String(Id), enabled: Disabled !== true, weight };
  const remark = Comment ? { remark: `${Comment}` } : {};
  return canonical && { ...canonical, ...own, ...remark, readOnly: canonical.readOnly || routed };
}

function toApi(record: DnsRecord) {
  refuseText(record, 'bunny.net', { never: [[/^$/, 'no text at all']] });
  const { host, type, value, ttl, weight, enabled, remark } = record;
  const whole = { Type: TYPES.indexOf(type), Name: host === '@' ? '' : host, Ttl: ttl, Disabled: !enabled };
  const address = /^A(AAA)?$/.test(type) ? { Weight: weight ?? WEIGHT } : {};
  const comment = remark === undefined ? {} : { Comment: remark };
  return { ...whole, ...address, ...comment, ...(FIELDS.of(record) ?? { Value: value }) };
}
