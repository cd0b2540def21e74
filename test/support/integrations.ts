import { createHmac } from 'node:crypto';
import { RequestMethod } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { ModulesContainer } from '@nestjs/core';
import { ACCESS, type AccessRule } from '../../src/access/access.js';
import type { FrontDoor } from '../../src/access/doors.js';
import { CLASS, decode, TYPE, type WireRecord } from '../../src/dns/wire.js';
import { rdataToWire, typeNumber } from '../../src/dns/wire-rdata.js';
import { overUdp, signedUpdate, transferred } from './dns-messages.js';
import { basic, say } from './doors.js';
import type { Key } from './nsupdate.js';
import { type Answer, applicationOf, type Service } from './server.js';
import { made } from './world.js';

/** A record that a request is about. */
export interface Item {
  host: string;
  type: string;
  value: string;
}

/** A token of an integration. */
export interface Holder {
  id: number;
  token: string;
}

/** What an integration is tested on. */
export interface Ground {
  service: Service;
  domain: number;
  zone: string;
  dnsPort: number;
}

export type Operation = 'read' | 'create' | 'update' | 'delete';

/** A request for one record. @returns what the client receives */
type Call = (ground: Ground, by: Holder, item: Item, other: string) => Promise<string>;

export interface Integration {
  /** its routes, as the service declares them; the listener for DNS messages has none */
  routes: readonly string[];
  /** what it can be asked for; `other` is another value of the same type */
  calls: Partial<Record<Operation, Call>>;
  /** requests by which a client may guess what exists */
  guesses?: Call[];
  /** whether it can express the record */
  speaksOf?: (item: Item) => boolean;
}

const fullName = ({ zone }: Ground, { host }: Item): string => `${host}.${zone}`;
const rdataOf = ({ type, value }: Item): string => (type === 'TXT' ? `"${value}"` : value);

/** The answer to a request, as text with its status. */
async function sent(
  { service }: Ground,
  { token }: Holder,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = { authorization: basic(token) },
): Promise<string> {
  const { status, text } = await say(service.server.url + path, method, headers, body);
  return `${status} ${text}`;
}

/** ddns-go and certd: the id of a record is looked up by its owner, since a token may not list it. */
function panel(door: 'ddns-go' | 'certd'): Integration {
  const call = (ground: Ground, { token }: Holder, method: string, below: string, body?: unknown) => {
    const path = `/doors/${door}/api/domains/${ground.domain}/records${below}`;
    return sent(ground, { id: 0, token }, method, path, body, { authorization: `Bearer ${token}` });
  };
  const idOf = async ({ service, domain }: Ground, { host, type }: Item): Promise<number> => {
    const path = `/api/domains/${domain}/records?host=${host}&type=${type}` as '/api/domains/{domain_id}/records';
    return (await service.admin.get(path)).data.list[0]?.id ?? 999_999;
  };
  const at = `/doors/${door}/api/domains`;
  return {
    routes: [
      `GET ${at}`,
      `GET ${at}/:domain_id/records`,
      `POST ${at}/:domain_id/records`,
      `PUT ${at}/:domain_id/records/:record_id`,
      `DELETE ${at}/:domain_id/records/:record_id`,
    ],
    calls: {
      read: (ground, by) => call(ground, by, 'GET', '?pageSize=100'),
      create: (ground, by, { host, type, value }) => call(ground, by, 'POST', '', { name: host, type, value }),
      update: async (ground, by, item, value) => call(ground, by, 'PUT', `/${await idOf(ground, item)}`, { value }),
      delete: async (ground, by, item) => call(ground, by, 'DELETE', `/${await idOf(ground, item)}`),
    },
  };
}

const dyndns2: Call = (ground, by, item) =>
  sent(ground, by, 'GET', `/nic/update?hostname=${fullName(ground, item)}&myip=${item.value}`);
const moved: Call = (ground, by, item, value) => dyndns2(ground, by, { ...item, value }, value);

/** The changes of one record, as ExternalDNS sends them. */
const endpoints =
  (of: (endpoint: (value: string) => object, item: Item, other: string) => Record<string, object[]>): Call =>
  (ground, by, item, other) => {
    const [dnsName, recordType] = [fullName(ground, item), item.type];
    const endpoint = (value: string) => ({ dnsName, recordType, targets: [rdataOf({ ...item, value })] });
    const changes = { create: null, updateOld: null, updateNew: null, delete: null, ...of(endpoint, item, other) };
    const headers = {
      authorization: basic(by.token),
      'content-type': 'application/external.dns.webhook+json;version=1',
    };
    return sent(ground, by, 'POST', '/doors/external-dns/records', changes, headers);
  };

const ZONES = '/doors/powerdns/api/v1/servers/localhost/zones';
const rrset =
  (changetype: 'REPLACE' | 'DELETE', contentOf: (item: Item, other: string) => string): Call =>
  (ground, by, item, other) => {
    const records = [{ content: rdataOf({ ...item, value: contentOf(item, other) }), disabled: false }];
    const set = { name: `${fullName(ground, item)}.`, type: item.type, changetype };
    const body = { rrsets: [changetype === 'DELETE' ? set : { ...set, ttl: 300, records }] };
    return sent(ground, by, 'PATCH', `${ZONES}/${ground.zone}.`, body, { 'x-api-key': by.token });
  };

const keys = new Map<string, Key>();

/** The TSIG key of a token. */
async function keyOf({ service }: Ground, { id, token }: Holder): Promise<Key> {
  const path = `/api/tokens/${id}/tsig-key` as '/api/tokens/{id}/tsig-key';
  const key = keys.get(token) ?? made((await service.admin.post(path, {})) as Answer<Key>);
  keys.set(token, key);
  return key;
}

/** A resource record of an update. */
const wire = (ground: Ground, item: Item, recordClass: number = CLASS.IN): WireRecord => ({
  name: `${fullName(ground, item)}.`,
  type: typeNumber(item.type),
  class: recordClass,
  ttl: recordClass === CLASS.IN ? 300 : 0,
  rdata: recordClass === CLASS.ANY ? Buffer.alloc(0) : rdataToWire(item.type, rdataOf(item)),
});

/** One dynamic update. @returns its code and its extended error */
export async function dnsUpdate(
  ground: Ground,
  by: Holder,
  [prerequisites, steps]: [WireRecord[], WireRecord[]],
): Promise<string> {
  const id = keys.size * 256 + (counter++ % 256);
  const answer = await overUdp(
    ground.dnsPort,
    signedUpdate(await keyOf(ground, by), ground.zone, [prerequisites, steps], id),
  );
  if (!answer) return 'silence';
  const { rcode, sections } = decode(answer);
  const option = sections[2].find(({ type }) => type === TYPE.OPT);
  return `${rcode} ${option ? answer.subarray(option.rdataStart, option.rdataEnd).toString('latin1') : ''}`;
}
let counter = 1;

/** Every integration, with its routes and what it can do with a record. */
export const INTEGRATIONS: Readonly<Record<FrontDoor, Integration>> = {
  httpreq: {
    routes: ['POST /doors/httpreq/present', 'POST /doors/httpreq/cleanup'],
    calls: {
      create: (ground, by, item) =>
        sent(ground, by, 'POST', '/doors/httpreq/present', { fqdn: `${fullName(ground, item)}.`, value: item.value }),
      delete: (ground, by, item) =>
        sent(ground, by, 'POST', '/doors/httpreq/cleanup', { fqdn: `${fullName(ground, item)}.`, value: item.value }),
    },
    speaksOf: ({ type }) => type === 'TXT',
  },
  'acme-dns': {
    routes: ['POST /doors/acme-dns/register', 'POST /doors/acme-dns/update', 'GET /doors/acme-dns/health'],
    calls: {
      create: async (ground, by, item) => {
        const body = { fulldomain: fullName(ground, item) };
        const registered = await sent(ground, by, 'POST', '/doors/acme-dns/register', body);
        if (!registered.startsWith('201')) return registered;
        const { username, password, subdomain } = JSON.parse(registered.slice(4));
        const headers = { 'x-api-user': username, 'x-api-key': password };
        return sent(ground, by, 'POST', '/doors/acme-dns/update', { subdomain, txt: item.value }, headers);
      },
    },
    speaksOf: ({ host }) => host.startsWith('_acme-challenge'),
  },
  dyndns2: {
    routes: ['GET /nic/update', 'POST /nic/update', 'GET /v3/update', 'POST /v3/update'],
    calls: { create: dyndns2, update: moved },
    speaksOf: ({ type }) => type === 'A',
  },
  'external-dns': {
    routes: [
      'GET /doors/external-dns',
      'GET /doors/external-dns/records',
      'POST /doors/external-dns/adjustendpoints',
      'POST /doors/external-dns/records',
    ],
    calls: {
      read: (ground, by) => sent(ground, by, 'GET', '/doors/external-dns/records'),
      create: endpoints((of, { value }) => ({ create: [of(value)] })),
      update: endpoints((of, { value }, other) => ({ updateOld: [of(value)], updateNew: [of(other)] })),
      delete: endpoints((of, { value }) => ({ delete: [of(value)] })),
    },
  },
  'ddns-go': panel('ddns-go'),
  certd: panel('certd'),
  rfc2136: {
    routes: [],
    calls: {
      read: async (ground, by) =>
        (await transferred(ground.dnsPort, await keyOf(ground, by), ground.zone))
          .flatMap(({ sections: [answer] }) => answer)
          .map(({ name, text }) => `${name} ${text}`)
          .join('\n'),
      create: (ground, by, item) => dnsUpdate(ground, by, [[], [wire(ground, item)]]),
      update: (ground, by, item, value) =>
        dnsUpdate(ground, by, [[], [wire(ground, item, CLASS.NONE), wire(ground, { ...item, value })]]),
      delete: (ground, by, item) => dnsUpdate(ground, by, [[], [wire(ground, item, CLASS.NONE)]]),
    },
    // prerequisites (RFC 2136 section 2.4): the name is in use, it is not, and it has a set of this type
    guesses: [
      (ground, by, item) => dnsUpdate(ground, by, [[{ ...wire(ground, item, CLASS.ANY), type: TYPE.ANY }], []]),
      (ground, by, item) => {
        const absent = { ...wire(ground, item, CLASS.ANY), type: TYPE.ANY, class: CLASS.NONE };
        return dnsUpdate(ground, by, [[absent], []]);
      },
      (ground, by, item) => dnsUpdate(ground, by, [[wire(ground, item, CLASS.ANY)], []]),
      (ground, by, item) => dnsUpdate(ground, by, [[], [{ ...wire(ground, item, CLASS.ANY), type: TYPE.ANY }]]),
    ],
  },
  webhook: {
    routes: ['POST /doors/hook/:id'],
    calls: {
      create: async (ground, by, { host, type, value }) => {
        const path = `/api/tokens/${by.id}/hooks` as '/api/tokens/{id}/hooks';
        const body = { domain_id: ground.domain, host, type };
        const answer = (await ground.service.admin.post(path, body)) as Answer<{ id: number; secret: string }>;
        if (answer.code) return `${answer.status} ${answer.msg}`;
        const text = JSON.stringify({ value });
        const signature = `sha256=${createHmac('sha256', answer.data.secret).update(text).digest('hex')}`;
        const headers = { 'x-hub-signature-256': signature };
        return sent(ground, by, 'POST', `/doors/hook/${answer.data.id}`, text, headers);
      },
    },
  },
  powerdns: {
    routes: [
      'GET /doors/powerdns/api',
      'GET /doors/powerdns/api/v1/servers',
      ...['', '/config', '/statistics', '/tsigkeys', '/autoprimaries', '/config/:setting', '/views', '/networks'].map(
        (path) => `GET /doors/powerdns/api/v1/servers/localhost${path}`,
      ),
      'GET /doors/powerdns/api/v1/servers/localhost/search-data',
      'PUT /doors/powerdns/api/v1/servers/localhost/cache/flush',
      ...['GET', 'POST'].map((method) => `${method} ${ZONES}`),
      ...['GET', 'PATCH', 'PUT', 'DELETE'].map((method) => `${method} ${ZONES}/:zone_id`),
      ...['notify', 'rectify', 'axfr-retrieve'].map((what) => `PUT ${ZONES}/:zone_id/${what}`),
      ...['cryptokeys', 'metadata', 'metadata/:kind', 'export'].map((what) => `GET ${ZONES}/:zone_id/${what}`),
    ],
    calls: {
      read: (ground, by) => sent(ground, by, 'GET', `${ZONES}/${ground.zone}.`, undefined, { 'x-api-key': by.token }),
      create: rrset('REPLACE', ({ value }) => value),
      update: rrset('REPLACE', (_, other) => other),
      delete: rrset('DELETE', ({ value }) => value),
    },
  },
};

/** A route as a controller of a running service declares it: `GET /nic/update`. */
export interface DeclaredRoute {
  name: string;
  access: AccessRule | undefined;
  /** of a foreign protocol */
  foreign: boolean;
}

/** All routes of a running service. */
export function declaredRoutes({ server }: Service): DeclaredRoute[] {
  const modules = applicationOf(server.dataDir)?.get(ModulesContainer) as ModulesContainer;
  const routes = new Map<string, DeclaredRoute>();
  for (const { metatype } of [...modules.values()].flatMap(({ controllers }) => [...controllers.values()])) {
    const at = `/${String(Reflect.getMetadata(PATH_METADATA, metatype as object)).replace(/^\//, '')}`;
    const foreign = /^\/(doors\/|nic|v3)/.test(at);
    const { prototype } = metatype as unknown as { prototype: object };
    for (let one = prototype; one !== Object.prototype; one = Object.getPrototypeOf(one))
      for (const name of Object.getOwnPropertyNames(one)) {
        const handler = Reflect.get(one, name) as object;
        const paths = Reflect.getMetadata(PATH_METADATA, handler) as string | string[] | undefined;
        const method = RequestMethod[Reflect.getMetadata(METHOD_METADATA, handler) as number];
        if (method === undefined) continue;
        const access = Reflect.getMetadata(ACCESS, handler) ?? Reflect.getMetadata(ACCESS, metatype as object);
        for (const path of [paths ?? ''].flat()) {
          const route = `${method} ${`${at}/${path}`.replace(/\/+/g, '/').replace(/\/$/, '')}`;
          routes.set(route, { name: route, access, foreign });
        }
      }
  }
  return [...routes.values()];
}
