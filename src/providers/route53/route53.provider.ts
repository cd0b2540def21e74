import { fullName, toAscii } from '../../dns/names.js';
import { listIn, listOf } from '../kit/http/body.js';
import { ProviderError } from '../kit/http/errors.js';
import { allPages } from '../kit/http/pages.js';
import { fromRrsets } from '../kit/rrsets/from-rrsets.js';
import { type PlainSet, plainSets, recordsIn, setsAt, withSoa } from '../kit/rrsets/plain-sets.js';
import type { RecordSet, SetKey } from '../kit/rrsets/record-set.js';
import { awsXml } from '../kit/signing/aws.js';
import { recoded } from '../kit/values/escapes.js';
import type { Connect, RemoteZone } from '../provider.js';

/** Up to so many sets are read one by one: an account may ask 5 times a second. */
const FEW_SETS = 3;
const ZONES = '/2013-04-01/hostedzone';
/** As the API answers (service model; recorded 2022): all values are texts. */
type More = { [key in 'IsTruncated' | 'NextMarker' | `NextRecord${'Name' | 'Type' | 'Identifier'}`]?: string };
type ApiZone = { Id: string; Name: string };
type Zones = { ListHostedZonesResponse?: { HostedZones?: { HostedZone?: ApiZone[] } } & More };
type ApiSet = { Name: string; Type: string; TTL?: string; SetIdentifier?: string } & {
  AliasTarget?: { DNSName: string };
  ResourceRecords?: { ResourceRecord: { Value: string }[] };
};
type Sets = { ListResourceRecordSetsResponse?: { ResourceRecordSets?: { ResourceRecordSet?: ApiSet[] } } & More };

export const connect: Connect = ({ access_key_id: id = '', secret_access_key: secretAccessKey = '' }, context) => {
  const key = { accessKeyId: id, secretAccessKey, region: 'us-east-1', service: 'route53' };
  const http = context.http.extend(awsXml(key, ['NoSuchHostedZone']));
  const page = async (zone: RemoteZone, query: Record<string, string | number | undefined>) => {
    const answer = (await http.get<Sets | undefined>(pathOf(zone), { query }))?.ListResourceRecordSetsResponse;
    const { NextRecordName: name, NextRecordType: type, NextRecordIdentifier: identifier }: More = answer ?? {};
    const next = answer?.IsTruncated === 'true' ? JSON.stringify({ name, type, identifier }) : null;
    return { entries: listIn(answer?.ResourceRecordSets, 'ResourceRecordSet') as ApiSet[] | undefined, next };
  };
  const idOf = (set: ApiSet) => [set.Name, set.Type, set.SetIdentifier].join(' ');
  const whole = async (zone: RemoteZone): Promise<PlainSet[]> => {
    const all = await allPages(idOf, ({ next }) => page(zone, { maxitems: 300, ...JSON.parse(`${next ?? '{}'}`) }));
    return withSoa(plainSets(all, plain), zone.name);
  };
  // the list begins at this name and type, be there such a set or not
  const single = async (zone: RemoteZone, { host, type }: SetKey): Promise<PlainSet[]> =>
    plainSets((await page(zone, { name: fullName(host, zone.name), type, maxitems: 1 })).entries, plain);

  return {
    check: () => http.get(ZONES, { query: { maxitems: 1 } }),
    async listZones() {
      const zones = await allPages(getId, async ({ next }) => {
        const answer = await http.get<Zones>(ZONES, { query: { maxitems: 100, marker: next ?? undefined } });
        const { HostedZones, IsTruncated, NextMarker } = answer?.ListHostedZonesResponse ?? {};
        const entries = listIn(HostedZones, 'HostedZone') as ApiZone[] | undefined;
        return { entries, next: IsTruncated === 'true' ? (NextMarker ?? '') : null };
      });
      const name = (text: string) => toAscii(recoded(text, 8, 0)).replace(/\.$/, '');
      return zones.map(({ Id, Name }) => ({ id: Id.replace('/hostedzone/', ''), name: name(Name) }));
    },
    listRecords: async (zone) => recordsIn(await whole(zone), zone.name),
    apply: fromRrsets({
      async readSets(zone, keys) {
        const few = keys.length <= FEW_SETS && (await Promise.all(keys.map((one) => single(zone, one)))).flat();
        return setsAt(keys, few || (await whole(zone)), zone.name);
      },
      async replaceSets(zone, sets, was) {
        const special = was.find((set) => set.raw);
        if (special) throw new ProviderError('rejected', `${special.type} ${special.host} is an alias, or is routed`);
        // a deletion repeats the set exactly, and comes before what takes its place
        const batch = sets.map((set, i) => (set.members.length ? set : (was[i] as RecordSet)));
        const action = (set: RecordSet) => (sets.includes(set) ? 'UPSERT' : 'DELETE');
        const Change = batch.map((set) => ({ Action: action(set), ResourceRecordSet: toApi(set, zone) }));
        const ChangeBatch = { Changes: { Change: Change.sort((a, b) => (a.Action < b.Action ? -1 : 1)) } };
        const xmlns = 'https://route53.amazonaws.com/doc/2013-04-01/';
        const xml = { ChangeResourceRecordSetsRequest: { '@xmlns': xmlns, ChangeBatch } };
        await http.post(`${pathOf(zone)}/`, { xml, idempotent: true });
        return true;
      },
    }),
  };
};

const getId = (zone: ApiZone): string => zone.Id;
const pathOf = (zone: RemoteZone): string => `${ZONES}/${encodeURIComponent(zone.id)}/rrset`;

/** Sets that are an alias, or one of several of their name by a policy, are shown with what makes them so. */
function plain({ Name, Type, TTL = '0', SetIdentifier, AliasTarget, ResourceRecords }: ApiSet): PlainSet {
  const set = { name: recoded(Name, 8, 0), type: Type, ttl: Number(TTL) };
  const values = listOf(ResourceRecords?.ResourceRecord).map(({ Value }) => ({ rdata: recoded(Value, 8, 10) }));
  if (!AliasTarget && !SetIdentifier) return { ...set, values };
  const shown = AliasTarget ? [{ rdata: `ALIAS ${AliasTarget.DNSName}` }] : values;
  const told = SetIdentifier ? ` of set "${SetIdentifier}"` : '';
  return { ...set, raw: true, readOnly: true, values: shown.map(({ rdata }) => ({ rdata: rdata + told })) };
}

function toApi({ host, type, ttl, members }: RecordSet, zone: RemoteZone) {
  const ResourceRecord = members.map(({ rdata }) => ({ Value: recoded(rdata, 10, 8) }));
  return { Name: `${fullName(host, zone.name)}.`, Type: type, TTL: ttl, ResourceRecords: { ResourceRecord } };
}
