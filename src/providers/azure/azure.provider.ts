import { fullName } from '../../dns/names.js';
import { quoteBytes } from '../../dns/text.js';
import { cutShort, errorHooks, needed, ProviderError, type VendorError } from '../kit/http/errors.js';
import { oauth2 } from '../kit/http/oauth2.js';
import { allPages } from '../kit/http/pages.js';
import { fromSets } from '../kit/rrsets/from-rrsets.js';
import { type PlainSet, plainSets, setsAt, withSoa } from '../kit/rrsets/plain-sets.js';
import { filled, type RecordSet, type SetKey } from '../kit/rrsets/record-set.js';
import { typedFields } from '../kit/values/rdata-fields.js';
import { textStrings } from '../kit/values/value-limits.js';
import { zoneOf } from '../kit/zone/zones.js';
import type { Connect, RemoteZone } from '../provider.js';

/** As the API answers (recorded 2023): the name relative, the type at the end of `type`, a list of values per type. */
type ApiSet = { name: string; type: string; etag: string; properties: Properties };
type Properties = { TTL: number; metadata?: object } & Aliases & { [list: string]: unknown };
/** A set with one of these is an alias (specification, 2026). */
type Aliases = { [kind in 'targetResource' | 'trafficManagementProfile']?: Partial<Id> | null };
type Id = { id: string };
type ApiZone = { id: string; name: string; properties?: { zoneType?: string } };
type Value = Record<string, unknown>;
type Failure = { error?: VendorError } & Partial<VendorError>;

/** The first with DS, NAPTR and TLSA, and the last (specification, 2026). */
const VERSION = { 'api-version': '2023-07-01-preview' };
/** Hosts of tokens and of the resource manager (documentation of the national clouds). */
const CLOUDS: Record<string, { tokens: string; manager: string }> = {
  public: { tokens: 'https://login.microsoftonline.com', manager: 'https://management.azure.com' },
  china: { tokens: 'https://login.chinacloudapi.cn', manager: 'https://management.chinacloudapi.cn' },
  'us-government': { tokens: 'https://login.microsoftonline.us', manager: 'https://management.usgovcloudapi.net' },
};
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
const MX = typedFields({ names: { priority: 'preference', target: 'exchange' } });
const OTHERS = typedFields({
  names: {
    ...{ key_tag: 'keyTag', digest_type: 'algorithmType', digest: 'value', service: 'services' },
    ...{ matching_type: 'matchingType', certificate: 'certAssociationData' },
  },
});
const fieldsOf = (type: string) => (type === 'MX' ? MX : OTHERS);
const listOf = (type: string) =>
  ({ CNAME: 'CNAMERecord', SOA: 'SOARecord', CAA: 'caaRecords' })[type] ?? `${type}Records`;

export const connect: Connect = (credentials, context) => {
  const { tenant_id, client_id = '', client_secret = '', subscription_id, resource_group, endpoint } = credentials;
  const { tokens, manager } = needed(CLOUDS[credentials.cloud || 'public'], 'cloud');
  const form = () => ({
    grant_type: 'client_credentials',
    client_id,
    client_secret,
    resource: manager,
  });
  // with another endpoint the token comes from there as well
  const login = context.http.extend({ baseUrl: endpoint || tokens });
  const hooks = errorHooks(errorsOf, { not_found: GONE }, { 412: 'changed' });
  const token = oauth2(login, `/${encodeURIComponent(tenant_id ?? '')}/oauth2/token`, form, hooks);
  const http = context.http.extend({ ...token, ...(endpoint ? {} : { baseUrl: manager }) });
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
    return withSoa(await plainSets(all, (set) => plain(set, zone.name)), zone.name);
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
      return zones.map(({ id, name, properties }) => {
        const group = /\/resourceGroups\/([^/]+)\//i.exec(id)?.[1]?.toLowerCase();
        if (!group) throw cutShort('resource group of a zone');
        return zoneOf(name, `${group}/${name.toLowerCase()}`, { hidden: properties?.zoneType === 'Private' });
      });
    },
    ...fromSets(whole, {
      async readSets(zone, keys) {
        const few = keys.length <= FEW_SETS && (await Promise.all(keys.map((key) => single(zone, key)))).flat();
        return setsAt(keys, few || (await whole(zone)), zone.name);
      },
      async replaceSet(zone, set, { raw }) {
        const held = raw as ApiSet | undefined;
        if (set.type === 'CNAME' && set.members.length > 1)
          throw new ProviderError('rejected', 'A CNAME is alone', false);
        const headers: Record<string, string> = held ? { 'if-match': held.etag } : { 'if-none-match': '*' };
        const [path, json] = [setPath(zone, set), toApi(set)];
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
  const alias = properties.targetResource?.id || properties.trafficManagementProfile?.id;
  const values = [properties[listOf(type)] ?? []].flat() as Value[];
  const read = (raw: Value) => ({ rdata: rdataOf(type, raw), raw, extra: besides(type, raw) });
  return {
    ...{
      name: fullName(name, zone),
      type,
      ttl: properties.TTL,
      raw: set,
      extra: withoutOwn(set),
      readOnly: alias && `It is an alias of ${alias}`,
    },
    values: alias ? [{ rdata: `alias of ${alias}` }] : values.map(read),
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
  // the digest of a DS has two fields of its own
  const fields: Value = { ...value, ...(value.digest as Value | undefined) };
  for (const name of ['exchange', 'target', 'replacement']) if (name in fields) fields[name] = dotted(fields[name]);
  // said to be enclosed in quotes, and shown without (specification, 2026)
  if (type === 'NAPTR')
    for (const name of ['flags', 'services', 'regexp']) fields[name] = `${fields[name]}`.replace(/^"(.*)"$/, '$1');
  return fieldsOf(type).rdata(type, fields) ?? JSON.stringify(value);
}

/** The fields of a value besides its rdata. */
function besides(type: string, value: Value): object {
  const known = new Set(Object.keys(apiValue(type, rdataOf(type, value)) ?? value));
  return Object.fromEntries(Object.entries(value).filter(([name]) => !known.has(name)));
}

/** All that a set holds besides its values; what only Azure writes is left out. */
function withoutOwn({ id: _id, name: _name, type, etag: _etag, properties, ...more }: ApiSet & Partial<Id>) {
  // empty but in alias sets, which are not written
  const { targetResource: _none, trafficManagementProfile: _nor, ...rest } = properties;
  const { fqdn: _fqdn, provisioningState: _state, TTL: _ttl, ...kept } = rest;
  delete kept[listOf(`${type.split('/').at(-1)}`)];
  return { ...more, properties: filled(kept) };
}

/** A set with all that it holds besides, since it is replaced whole. */
function toApi({ type, ttl: TTL, members, raw }: RecordSet): object {
  const held = raw as ApiSet | undefined;
  const { properties, ...more } = (held?.type === undefined ? held : withoutOwn(held)) ?? {};
  const values = members.map(({ rdata, raw: own }) => ({ ...(own as Value | undefined), ...apiValue(type, rdata) }));
  return { ...more, properties: { ...properties, TTL, [listOf(type)]: type === 'CNAME' ? values[0] : values } };
}

function apiValue(type: string, rdata: string): object | null {
  if (type === 'TXT') return { value: textStrings(rdata) };
  const bare = rdata.replace(/(?<=[^ ])\.$/, '');
  if (ONE[type]) return { [ONE[type]]: bare };
  const [priority, ...rest] = bare.split(' ');
  const isRanked = type === 'MX' || type === 'SRV';
  const fields = fieldsOf(type).of({ type, priority: Number(priority), value: isRanked ? rest.join(' ') : bare });
  if (type !== 'DS') return fields;
  const { algorithmType, value, ...key } = fields ?? {};
  return { ...key, digest: { algorithmType, value } };
}
