import { azure } from '../../../src/providers/azure/declaration.js';
import type { Asked, Course, ReplaySetup } from '../../support/recordings.js';
import type { Answer } from '../../support/vendor.js';

interface Recorded {
  name: string;
  type: string;
  etag?: string;
  properties: { TTL: number; [list: string]: unknown };
}
type Form = Record<string, string>;

const inPath = (url: string, after: string) => new RegExp(`/${after}/([^/?]+)`, 'i').exec(url)?.[1];
const typeOf = ({ type }: Recorded): string => `${type.split('/').at(-1)}`;
const VALUES: Record<string, [list: string, field: string]> = {
  A: ['ARecords', 'ipv4Address'],
  AAAA: ['AAAARecords', 'ipv6Address'],
  CNAME: ['CNAMERecord', 'cname'],
  NS: ['NSRecords', 'nsdname'],
  TXT: ['TXTRecords', 'value'],
};

/** Recorded 2023. */
export const setup: ReplaySetup = {
  definition: azure,
  recording: 'azure',
  base: '',
  credentials(endpoint, { scenarios }) {
    const urls = scenarios.flatMap(({ interactions }) => interactions.map(({ request }) => request.url));
    const first = (after: string) => urls.map((url) => inPath(url, after)).find((found) => found) ?? '';
    const token = urls.find((url) => url.endsWith('/oauth2/token')) ?? 'https://any/a-tenant/oauth2/token';
    return {
      tenant_id: `${new URL(token).pathname.split('/')[1]}`,
      subscription_id: first('subscriptions'),
      resource_group: first('resourceGroups'),
      ...{ client_id: 'a-client', client_secret: 'a-secret-for-the-tests', endpoint },
    };
  },
  reads: ({ method, path }) => method === 'GET' || path.endsWith('/oauth2/token'),
  listed({ path }, body) {
    const { value } = (body ?? {}) as { value?: Recorded[] };
    if (!path.includes('/dnszones/') || !value) return null;
    return value.flatMap((set) => {
      const [list = '', field = ''] = VALUES[typeOf(set)] ?? [];
      const values = [set.properties[list] ?? []].flat() as Record<string, string | string[]>[];
      return values.map((one) => ({
        type: typeOf(set),
        host: set.name,
        value: [one[field]].flat().join('').replace(/\.$/, ''),
        ttl: set.properties.TTL,
      }));
    });
  },
};

/** Paths are the same in any case; who asks for a token is masked; the version was 2018-05-01. */
export function bare(asked: Asked): Asked {
  const path = asked.path
    .replace(/\/dnszones(?=\/|$)/i, '/dnszones')
    .replace(/\/resourceGroups\/[^/]+/i, (group) => group.toLowerCase());
  const { 'api-version': _version, ...query } = asked.query;
  if (!path.endsWith('/oauth2/token')) return { ...asked, path, query };
  const { client_id: _id, client_secret: _secret, ...form } = asked.body as Form;
  return { ...asked, path, body: form };
}

/** Reads are answered of the sets that lists and answers to writes showed until then. */
export function sets(asked: Asked, { known }: Course): Answer | undefined {
  const [, zone, type, name] = /\/dnszones\/([^/]+)(?:\/([^/]+))?(?:\/([^/]+))?$/.exec(asked.path) ?? [];
  if (asked.method !== 'GET' || !zone || !type) return undefined;
  const all = new Map<string, Recorded>();
  const keyOf = (one: Recorded) => `${one.name}/${typeOf(one)}`.toLowerCase();
  for (const { request, response } of known) {
    const [, of, host = ''] = /\/dnszones\/[^/]+\/([^/?]+)(?:\/([^/?]+))?\?/i.exec(request.url) ?? [];
    if (!of || response.status >= 300) continue;
    if (request.method === 'GET') {
      for (const [key, one] of all) if (of === 'recordsets' || typeOf(one) === of) all.delete(key);
      for (const one of (response.body as { value: Recorded[] }).value) all.set(keyOf(one), one);
    } else if (request.method === 'PUT') all.set(keyOf(response.body as Recorded), response.body as Recorded);
    else all.delete(`${decodeURIComponent(host)}/${of}`.toLowerCase());
  }
  if (name === undefined) {
    const soa = { name: '@', type: '/SOA', properties: { TTL: 3600, SOARecord: { host: 'ns.example.' } } };
    return {
      body: { value: [...all.values(), ...([...all.values()].some((one) => typeOf(one) === 'SOA') ? [] : [soa])] },
    };
  }
  const found = all.get(`${name}/${type}`.toLowerCase());
  return found ? { body: found } : { status: 404, body: { code: 'NotFound', message: 'The resource was not found.' } };
}

/** The zone itself, which is asked for where a set of it is not found. */
export function zone(asked: Asked, { known }: Course): Answer | undefined {
  const [, name] = /\/dnszones\/([^/]+)$/.exec(asked.path) ?? [];
  const all = known.flatMap(
    ({ response }) => (response.body as { value?: { name: string }[] } | undefined)?.value ?? [],
  );
  const found = name && asked.method === 'GET' && all.find((one) => one.name === name);
  return found ? { body: found } : undefined;
}

/** A set that is deleted only to be written anew. */
export const rewritten = ({ method, path }: Asked, { scenario }: Course): boolean =>
  method === 'DELETE' &&
  scenario.interactions.filter(({ request }) => request.method === 'PUT' && samePath(request.url, path)).length > 1 &&
  (scenario.steps ?? []).some(
    ({ op, from, host }) => op === 'update' && (from ?? host) === host && path.endsWith(`/${host}`),
  );

const samePath = (url: string, path: string) =>
  decodeURIComponent(new URL(url).pathname).toLowerCase() === path.toLowerCase();
