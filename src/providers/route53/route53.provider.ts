import { fullName } from '../../dns/names.js';
import { listIn, listOf } from '../kit/http/body.js';
import { needed, ProviderError } from '../kit/http/errors.js';
import { allPages } from '../kit/http/pages.js';
import { fromSets } from '../kit/rrsets/from-rrsets.js';
import { fewOrAll, type PlainSet, plainSets, withSoa } from '../kit/rrsets/plain-sets.js';
import type { RecordSet, SetKey, SetMember } from '../kit/rrsets/record-set.js';
import { awsXml } from '../kit/signing/aws.js';
import { recoded } from '../kit/values/escapes.js';
import { zoneOf } from '../kit/zone/zones.js';
import type { Connect, RemoteZone } from '../provider.js';

/** Up to so many sets are read one by one: an account may ask 5 times a second. */
const FEW_SETS = 3;
const ZONES = '/2013-04-01/hostedzone';
/** As the API answers (service model; recorded 2022): all values are texts. */
type More = { [key in 'IsTruncated' | 'NextMarker' | `NextRecord${'Name' | 'Type' | 'Identifier'}`]?: string };
type ApiZone = { Id: string; Name: string; Config?: { PrivateZone?: string } };
type Zones = { ListHostedZonesResponse?: { HostedZones?: { HostedZone?: ApiZone[] } } & More };
type ApiSet = { Name: string; Type: string; TTL?: string; SetIdentifier?: string } & {
  AliasTarget?: { DNSName: string };
  ResourceRecords?: { ResourceRecord: { Value: string }[] };
};
type Sets = { ListResourceRecordSetsResponse?: { ResourceRecordSets?: { ResourceRecordSet?: ApiSet[] } } & More };

/** Host and region of each partition (AWS's list of service endpoints). */
const PARTITIONS: Record<string, readonly [host: string, region: string]> = {
  aws: ['route53.amazonaws.com', 'us-east-1'],
  'aws-cn': ['route53.amazonaws.com.cn', 'cn-northwest-1'],
  'aws-us-gov': ['route53.us-gov.amazonaws.com', 'us-gov-west-1'],
};

export const connect: Connect = (credentials, context) => {
  const { access_key_id: accessKeyId = '', secret_access_key: secretAccessKey = '' } = credentials;
  const { session_token: sessionToken = '', partition, endpoint } = credentials;
  const [host, region] = needed(PARTITIONS[partition || 'aws'], 'partition');
  const key = { accessKeyId, secretAccessKey, sessionToken, region, service: 'route53' };
  const baseUrl = endpoint ? {} : { baseUrl: `https://${host}` };
  const http = context.http.extend({ ...awsXml(key, ['NoSuchHostedZone']), ...baseUrl });
  const page = async (zone: RemoteZone, query: Record<string, string | number | undefined>) => {
    const answer = (await http.get<Sets | undefined>(pathOf(zone), { query }))?.ListResourceRecordSetsResponse;
    const { NextRecordName: name, NextRecordType: type, NextRecordIdentifier: identifier }: More = answer ?? {};
    const next = answer?.IsTruncated === 'true' ? JSON.stringify({ name, type, identifier }) : null;
    return { entries: listIn(answer?.ResourceRecordSets, 'ResourceRecordSet') as ApiSet[] | undefined, next };
  };
  const idOf = (set: ApiSet) => [set.Name, set.Type, set.SetIdentifier].join(' ');
  const whole = async (zone: RemoteZone): Promise<PlainSet[]> => {
    const all = await allPages(idOf, ({ next }) => page(zone, { maxitems: 300, ...JSON.parse(`${next ?? '{}'}`) }));
    return withSoa(await plainSets(all, plain), zone.name);
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
      return zones.map(({ Id, Name, Config }) =>
        zoneOf(recoded(Name, 8, 0), Id.replace('/hostedzone/', ''), { hidden: Config?.PrivateZone === 'true' }),
      );
    },
    ...fromSets(whole, {
      readSets: fewOrAll(FEW_SETS, single, whole),
      async replaceSets(zone, sets, was) {
        const change = (Action: string, set: RecordSet) => ({ Action, ResourceRecordSet: toApi(set, zone) });
        const held = (list: RecordSet[]) => list.filter(({ members }) => members.length > 0);
        // what goes is repeated exactly, and what comes must not be there: who changed it meanwhile is seen
        const gone = held(was).filter((set) => !isFixed(set));
        const Change = [
          ...gone.map((set) => change('DELETE', set)),
          ...held(sets).map((set) => change(isFixed(set) ? 'UPSERT' : 'CREATE', set)),
        ];
        const xmlns = 'https://route53.amazonaws.com/doc/2013-04-01/';
        const xml = { ChangeResourceRecordSetsRequest: { '@xmlns': xmlns, ChangeBatch: { Changes: { Change } } } };
        try {
          await http.post(`${pathOf(zone)}/`, { xml, idempotent: true });
          return true;
        } catch (error) {
          if (error instanceof ProviderError && error.kind === 'changed') return false;
          throw error;
        }
      },
    }),
  };
};

/** A zone is never without its name servers: it is not known whether a batch may take them out and put them in. */
const isFixed = ({ host, type }: SetKey): boolean => host === '@' && type === 'NS';
const getId = (zone: ApiZone): string => zone.Id;
const pathOf = (zone: RemoteZone): string => `${ZONES}/${encodeURIComponent(zone.id)}/rrset`;

/** Sets that are an alias, or one of several of their name by a policy, are shown with what makes them so. */
function plain({ Name, Type, TTL = '0', ResourceRecords, ...more }: ApiSet): PlainSet {
  const { SetIdentifier, AliasTarget } = more;
  const set = { name: recoded(Name, 8, 0), type: Type, ttl: Number(TTL) };
  const values = listOf(ResourceRecords?.ResourceRecord).map((raw) => {
    const { Value, ...extra } = raw;
    return { rdata: recoded(Value, 8, 10), raw, extra };
  });
  if (!AliasTarget && !SetIdentifier) return { ...set, values, extra: more };
  const shown = AliasTarget ? [{ rdata: `ALIAS ${AliasTarget.DNSName}` }] : values;
  const told = SetIdentifier ? ` of set "${SetIdentifier}"` : '';
  const readOnly = AliasTarget ? 'It is an alias' : 'It is one of several of its name, by a policy: it is routed';
  return { ...set, readOnly, values: shown.map(({ rdata }) => ({ rdata: rdata + told })) };
}

/** A value; one that was read stays letter by letter. */
function apiValue({ rdata, raw }: SetMember) {
  const held = raw as { Value?: string } | undefined;
  return held?.Value !== undefined && recoded(held.Value, 8, 10) === rdata
    ? held
    : { ...held, Value: recoded(rdata, 10, 8) };
}

function toApi({ host, type, ttl, members, raw: more }: RecordSet, zone: RemoteZone) {
  const ResourceRecord = members.map(apiValue);
  return {
    Name: `${fullName(host, zone.name)}.`,
    Type: type,
    TTL: ttl,
    ResourceRecords: { ResourceRecord },
    ...(more as object),
  };
}
