import { fullName, toAscii } from '../../dns/names.js';
import { quoteBytes } from '../../dns/text.js';
import { cutShort, errorHooks, ProviderError, type VendorError } from '../kit/http/errors.js';
import { oauth2 } from '../kit/http/oauth2.js';
import { allPages } from '../kit/http/pages.js';
import { fromRrsets } from '../kit/rrsets/from-rrsets.js';
import { type PlainSet, plainSets, recordsIn, setsAt, withSoa } from '../kit/rrsets/plain-sets.js';
import type { RecordSet, SetKey } from '../kit/rrsets/record-set.js';
import { typedFields } from '../kit/values/rdata-fields.js';
import { textStrings } from '../kit/values/value-limits.js';
import type { Connect, RemoteZone } from '../provider.js';

/** As the API answers (recorded 2023): the name relative, the type at the end of `type`, a list of values per type. */
type ApiSet = { name: string; type: string; etag: string; properties: Properties };
type Properties = { TTL: number; targetResource?: { id?: string }; metadata?: object } & { [list: string]: unknown };
type ApiZone = { id: string; name: string; properties?: { zoneType?: string } };
type Value = Record<string, string | number | string[]>;
type Failure = { error?: VendorError } & Partial<VendorError>;

const VERSION = { 'api-version': '2018-05-01' };
const TOKENS = 'https://login.microsoftonline.com';
/** Up to so many sets are read one by one. */
const FEW_SETS = 5;
const GONE = [
  'SubscriptionNotFound',
  'ResourceGroupNotFound',
  'ResourceNotFound',
  'ParentResourceNotFound',
  'NotFound',
];
/** Types of which a value is one field. */
const ONE: Record<string, string> = {
  ...{ A: 'ipv4Address', AAAA: 'ipv6Address', NS: 'nsdname', PTR: 'ptrdname', CNAME: 'cname', SOA: 'host' },
};
const FIELDS = { MX: typedFields({ names: { priority: 'preference', target: 'exchange' } }), other: typedFields() };
const fieldsOf = (type: string) => (type === 'MX' ? FIELDS.MX : FIELDS.other);
const listOf = (type: string) =>
  ({ CNAME: 'CNAMERecord', SOA: 'SOARecord', CAA: 'caaRecords' })[type] ?? `${type}Records`;

export const connect: Connect = (credentials, context) => {
  const { tenant_id, client_id = '', client_secret = '', subscription_id, resource_group, endpoint } = credentials;
  const form = () => ({
    grant_type: 'client_credentials',
    client_id,
    client_secret,
    resource: 'https://management.azure.com',
  });
  // with another endpoint the token comes from there as well
  const login = context.http.extend({ baseUrl: endpoint || TOKENS });
  const hooks = errorHooks(errorsOf, { not_found: GONE }, { 412: 'changed' });
  const http = context.http.extend(oauth2(login, `/${encodeURIComponent(tenant_id ?? '')}/oauth2/token`, form, hooks));
  const rootOf = (group?: string) =>
    `/subscriptions/${subscription_id}${group ? `/resourceGroups/${encodeURIComponent(group)}` : ''}/providers/Microsoft.Network/dnsZones`;
  const pathOf = ({ id }: RemoteZone) => `${rootOf(id.split('/')[0])}/${id.split('/')[1]}`;
  const list = <T>(path: string, idOf: (entry: T) => string) =>
    allPages(idOf, async ({ next }) => {
      const query = next ? '' : `?${new URLSearchParams(VERSION)}`;
      const answer = await http.get<{ value?: T[]; nextLink?: string } | undefined>(`${path}${next ?? query}`);
      const link = answer?.nextLink;
      return { entries: answer?.value, next: link ? (URL.canParse(link) ? new URL(link).search : '') : null };
    });
  const whole = async (zone: RemoteZone) => {
    const all = await list<ApiSet>(`${pathOf(zone)}/recordsets`, ({ name, type }) => `${name} ${type}`);
    return withSoa(
      plainSets(all, (set) => plain(set, zone.name)),
      zone.name,
    );
  };
  const setPath = (zone: RemoteZone, { host, type }: SetKey) => `${pathOf(zone)}/${type}/${encodeURIComponent(host)}`;
  const single = async (zone: RemoteZone, key: SetKey): Promise<PlainSet[]> => {
    try {
      const set = await http.get<ApiSet | undefined>(setPath(zone, key), { query: VERSION });
      return plainSets(set && [set], (one) => plain(one, zone.name));
    } catch (error) {
      if ((error as ProviderError).kind !== 'not_found') throw error;
      // the set, unless the zone is gone
      await http.get(pathOf(zone), { query: VERSION });
      return [];
    }
  };

  return {
    check: () => http.get(rootOf(resource_group), { query: { ...VERSION, $top: 1 } }),
    async listZones() {
      const zones = await list<ApiZone>(rootOf(resource_group), ({ id }) => id.toLowerCase());
      return zones.flatMap(({ id, name, properties }) => {
        const group = /\/resourceGroups\/([^/]+)\//i.exec(id)?.[1]?.toLowerCase();
        if (!group) throw cutShort('resource group of a zone');
        return properties?.zoneType === 'Private'
          ? []
          : [{ id: `${group}/${name.toLowerCase()}`, name: toAscii(name) }];
      });
    },
    listRecords: async (zone) => recordsIn(await whole(zone), zone.name),
    apply: fromRrsets({
      async readSets(zone, keys) {
        const few = keys.length <= FEW_SETS && (await Promise.all(keys.map((key) => single(zone, key)))).flat();
        return setsAt(keys, few || (await whole(zone)), zone.name);
      },
      async replaceSet(zone, set, { raw }) {
        const held = raw as ApiSet | undefined;
        const alias = held?.properties.targetResource?.id;
        if (alias) throw new ProviderError('rejected', `${set.type} ${set.host} is an alias of ${alias}`, false);
        if (set.type === 'CNAME' && set.members.length > 1)
          throw new ProviderError('rejected', 'A CNAME is alone', false);
        const headers: Record<string, string> = held ? { 'if-match': held.etag } : { 'if-none-match': '*' };
        const [path, json] = [setPath(zone, set), { properties: toApi(set, held?.properties.metadata) }];
        try {
          if (set.members.length) await http.put(path, { query: VERSION, headers, json });
          else if (held) await http.delete(path, { query: VERSION, headers });
          return true;
        } catch (error) {
          if ((error as ProviderError).kind === 'changed') return false;
          throw error;
        }
      },
    }),
  };
};

function errorsOf(body: unknown): VendorError[] {
  const { error, code, message } = (body ?? {}) as Failure;
  if (error?.code && error.message) return [error];
  return code && message ? [{ code, message }] : [];
}

function plain(set: ApiSet, zone: string): PlainSet {
  const { name, properties } = set;
  const type = `${set.type.split('/').at(-1)}`;
  const alias = properties.targetResource?.id;
  const values = [properties[listOf(type)] ?? []].flat() as Value[];
  const rdatas = alias ? [`alias of ${alias}`] : values.map((value) => rdataOf(type, value));
  return {
    ...{ name: fullName(name, zone), type, ttl: properties.TTL, raw: set, readOnly: !!alias },
    values: rdatas.map((rdata) => ({ rdata })),
  };
}

/** Names come with and without their final dot. */
const dotted = (name: unknown): string => `${name}`.replace(/\.?$/, '.');
function rdataOf(type: string, value: Value): string {
  if (type === 'TXT')
    return [value.value ?? []]
      .flat()
      .map((text) => quoteBytes(Buffer.from(`${text}`)))
      .join(' ');
  const one = ONE[type];
  if (one) return /^A+$/.test(type) ? `${value[one]}` : dotted(value[one]);
  const { exchange, target, ...rest } = value;
  const names = {
    ...(exchange === undefined ? {} : { exchange: dotted(exchange) }),
    ...(target === undefined ? {} : { target: dotted(target) }),
  };
  return fieldsOf(type).rdata(type, { ...rest, ...names }) ?? JSON.stringify(value);
}

function toApi({ type, ttl: TTL, members }: RecordSet, metadata: object | undefined): object {
  const values = members.map(({ rdata }) => {
    if (type === 'TXT') return { value: textStrings(rdata) };
    const bare = rdata.replace(/(?<=[^ ])\.$/, '');
    if (ONE[type]) return { [ONE[type]]: bare };
    const [priority, ...rest] = bare.split(' ');
    return fieldsOf(type).of({ type, priority: Number(priority), value: type === 'CAA' ? rdata : rest.join(' ') });
  });
  return { TTL, metadata, [listOf(type)]: type === 'CNAME' ? values[0] : values };
}
