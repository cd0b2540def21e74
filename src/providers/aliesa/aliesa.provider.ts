import { fullName } from '../../dns/names.js';
import type { DnsRecord, RemoteRecord } from '../../dns/record.js';
import { idText, ProviderError } from '../kit/http/errors.js';
import { fromList } from '../kit/records/from-records.js';
import { inFound, inPlace, orGone } from '../kit/records/in-place.js';
import { plainRecord } from '../kit/records/plain-record.js';
import { changedPart, type RecordVerbs } from '../kit/records/record-verbs.js';
import { alibaba } from '../kit/signing/alibaba.js';
import { typedFields } from '../kit/values/rdata-fields.js';
import { readEach } from '../kit/values/unreadable.js';
import { refuseRoot, refuseText } from '../kit/values/value-limits.js';
import { zoneOf } from '../kit/zone/zones.js';
import type { Connect, RemoteZone } from '../provider.js';

/** As the API has it (official model): ids are numbers, names full, the parts of rdata in `Data`. */
type ApiRecord = { RecordId: number; RecordName: string; RecordType: string; Ttl: number; Proxied?: boolean } & Own;
type Own = { Data?: Record<string, string | number>; RecordSourceType?: string; Comment?: string };
type ApiZone = { SiteId: number; SiteName: string; Status?: string }; // pending, active, offline, moved (its model)

const LABEL = 'Alibaba Cloud ESA';
const BUSY = ['Site.ServiceBusy', 'Record.ServiceBusy', 'TooManyRequests']; // Alibaba's own client repeats these
const FIELDS = typedFields({ names: { flags: 'Flag', target: 'Value' }, pascal: true });
/** of which fields those of the API follow */
const SOURCES = { Ttl: ['ttl', 'proxied'], Proxied: ['proxied'], BizName: ['proxied'], Comment: ['remark'] } as const;

export const connect: Connect = (account, context) => {
  const { read, write, list } = alibaba(context.http, account, { version: '2024-09-10', style: 'acs3', busy: BUSY });
  const zones = async (): Promise<RemoteZone[]> => {
    // sites that are accessed by CNAME are delegated elsewhere
    const asked = { AccessType: 'NS', PageSize: 500 };
    const sites = await list('ListSites', asked, idOf, (answer: { Sites?: ApiZone[] }) => answer.Sites);
    return sites.map((site) => zoneOf(site.SiteName, idOf(site), { idle: (site.Status ?? 'active') !== 'active' }));
  };
  const isThere = async ({ id }: RemoteZone): Promise<boolean> => (await zones()).some((zone) => zone.id === id);
  const records = async (zone: RemoteZone, more = {}): Promise<RemoteRecord[]> => {
    const asked = { SiteId: zone.id, ...more, PageSize: 500 };
    const body = () => list('ListRecords', asked, idOf, (answer: { Records?: ApiRecord[] }) => answer.Records);
    // whether a site that is none is refused, and with which code, is not documented
    const found = await orGone(body, () => isThere(zone));
    if (!found.length && !(await isThere(zone))) throw new ProviderError('not_found', `${LABEL} has no such site`);
    return readEach(found, zone.name, fromApi, shownType);
  };
  const named = (zone: RemoteZone, { host }: DnsRecord) => records(zone, { RecordName: fullName(host, zone.name) });
  // with which code one that is gone is refused is not documented either
  const known = <T>(zone: RemoteZone, before: RemoteRecord, body: () => Promise<T>): Promise<T> =>
    orGone(body, () => inFound(named)(zone, before));
  const verbs: RecordVerbs = {
    async createRecord(zone, record) {
      const own = { SiteId: zone.id, RecordName: fullName(record.host, zone.name), Type: typeOf(record) };
      return idOf((await write<Partial<ApiRecord>>('CreateRecord', { ...own, ...toApi(record) }, false)) ?? {});
    },
    async updateRecord(zone, before, after, changed) {
      if (changed.has('host') || typeOf(after) !== typeOf(before)) return inPlace(verbs, zone, before, after);
      const whole = toApi(after);
      // what is left out stays; `Data` is demanded
      const fields = { RecordId: before.remoteId, ...changedPart(whole, changed, SOURCES), Data: whole.Data };
      await known(zone, before, () => write('UpdateRecord', fields));
      return before.remoteId;
    },
    deleteRecord: (zone, before) => known(zone, before, () => write('DeleteRecord', { RecordId: before.remoteId })),
    ...{ readRecord: inFound(named), findRecords: named, whole: true },
  };
  return {
    check: () => read('ListSites', { PageSize: 1 }),
    listZones: zones,
    ...fromList(records, verbs),
  };
};

const idOf = (one: { SiteId?: number; RecordId?: number }): string => idText(one.RecordId ?? one.SiteId);
const typeOf = ({ type }: Pick<DnsRecord, 'type'>): string => (/^A(AAA)?$/.test(type) ? 'A/AAAA' : type);

/** One record may hold several addresses, parted by commas: no type has that, and it is shown only. */
const shownType = ({ RecordType, Data }: { RecordType: string; Data?: ApiRecord['Data'] | undefined }): string =>
  RecordType !== 'A/AAAA' ? RecordType : String(Data?.Value ?? '').includes(':') ? 'AAAA' : 'A';

function fromApi({ RecordId: id, RecordName: name, Ttl: ttl, ...rest }: ApiRecord, zone: string): RemoteRecord | null {
  const { Data, RecordSourceType: origin = '', Proxied: proxied = false, Comment: remark = '' } = rest;
  const type = shownType(rest);
  const value = FIELDS.rdata(type, Data) ?? String(Data?.Value ?? '');
  // an origin of another sort (a bucket, a pool) is no DNS, and a write would make it a name
  const readOnly = type === 'CNAME' && !/^(Domain)?$/.test(origin);
  return plainRecord({ id, name, type, value, ttl }, zone, { proxied, remark, readOnly });
}

function toApi(record: DnsRecord) {
  refuseText(record, LABEL, { never: [[/^$/, 'nothing in it']] });
  refuseRoot(record, LABEL);
  const { ttl, proxied: Proxied, remark: Comment, value: Value } = record;
  const Data = JSON.stringify(FIELDS.of(record) ?? { Value });
  return { Data, Ttl: Proxied ? 1 : ttl, Proxied, BizName: Proxied ? 'web' : undefined, Comment };
}
