import { constants, generateKeyPairSync, verify } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type Answer, type Received, type StandIn, startStandIn } from '../../support/vendor.js';

export interface YandexSet {
  name: string;
  type: string;
  ttl?: string;
  data: string[];
  description?: string;
}

const ZONE = 'contract.example.';
const ID = 'dns0contractexample0';
const FOLDER = 'b1gfolder';
const ACCOUNT = 'aje0account';

/**
 * What the API, its tokens and its operations do (definition of the API 2023, traffic of 2022, documentation of IAM):
 * empty lists are left out, numbers of 64 bits are texts, changes are strict and carried out whole.
 */
export async function startYandexcloud() {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' });
  // the file begins so
  const private_key = `PLEASE DO NOT REMOVE THIS LINE! Yandex.Cloud SA Key ID <ajk0key>\n${pem}`;
  const key = JSON.stringify({ id: 'ajk0key', service_account_id: ACCOUNT, key_algorithm: 'RSA_2048', private_key });
  const state = {
    sets: [
      { name: ZONE, type: 'NS', ttl: '3600', data: ['ns1.yandexcloud.net.', 'ns2.yandexcloud.net.'] },
      {
        name: ZONE,
        type: 'SOA',
        ttl: '3600',
        data: ['ns1.yandexcloud.net. mx.cloud.yandex.net. 1 10800 900 604800 900'],
      },
    ] as YandexSet[],
    zones: [
      { id: 'dns0privateexample00', folderId: FOLDER, zone: ZONE, privateVisibility: { networkIds: ['enp1'] } },
      { id: ID, folderId: FOLDER, zone: ZONE, publicVisibility: {} },
    ],
    page: 1000,
    /** tokens that the API takes */
    tokens: ['t1.direct'] as string[],
    asked: 0,
    /** operations are at work for so many looks */
    slow: 0,
  };
  const jobs = new Map<string, { left: number; end: Answer }>();
  const no = (status: number, code: number, message: string): Answer => ({ status, body: { code, message } });

  function token(body: unknown): Answer {
    const { jwt, yandexPassportOauthToken: oauth } = (body ?? {}) as Record<string, string>;
    const made = { iamToken: `t1.${++state.asked}`, expiresAt: '2026-03-01T20:00:00Z' };
    const give = () => {
      state.tokens.push(made.iamToken);
      return { body: made };
    };
    if (oauth) return oauth === 'y0_oauth' ? give() : no(401, 16, 'OAuth token is invalid or expired');
    const [header = '', claims = '', signature = ''] = `${jwt}`.split('.');
    const read = (text: string) => JSON.parse(Buffer.from(text, 'base64url').toString() || '{}');
    const { alg, kid } = read(header);
    const { iss, aud, iat, exp } = read(claims);
    const pss = { key: publicKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 };
    const now = Date.now() / 1000;
    const good =
      alg === 'PS256' &&
      kid === 'ajk0key' &&
      iss === ACCOUNT &&
      aud === 'https://iam.api.cloud.yandex.net/iam/v1/tokens' &&
      Math.abs(now - iat) < 60 &&
      exp - iat <= 3600 &&
      verify('sha256', Buffer.from(`${header}.${claims}`), pss, Buffer.from(signature, 'base64url'));
    return good ? give() : no(401, 16, 'JWT is invalid: the signature is not that of the key');
  }

  /** What a change makes of the sets; a text where it is refused, and the code. */
  function changed({ deletions = [], additions = [] }: { [key in 'deletions' | 'additions']?: YandexSet[] }) {
    let sets = [...state.sets];
    const plain = ({ name, type, ttl, data }: YandexSet) => ({ name, type, ttl: `${ttl ?? 0}`, data });
    for (const set of deletions) {
      const held = sets.find((one) => one.name === set.name && one.type === set.type);
      if (!held) return [404, 5, `RecordSet not found: ${set.name} ${set.type}`] as const;
      if (!isDeepStrictEqual(plain(held), plain(set)))
        return [400, 9, `RecordSet ${set.name} has other values`] as const;
      sets = sets.filter((one) => one !== held);
    }
    for (const set of additions) {
      if (!set.name.endsWith(ZONE)) return [400, 3, `Name ${set.name} is not in the zone`] as const;
      const beside = sets.filter((one) => one.name === set.name);
      if (beside.some((one) => one.type === set.type)) return [409, 6, `RecordSet ${set.name} exists`] as const;
      const cname = set.type === 'CNAME' || beside.some((one) => one.type === 'CNAME');
      if ((beside.length && cname) || (set.type === 'CNAME' && set.data.length > 1))
        return [400, 9, `CNAME ${set.name} suffers no other record beside it`] as const;
      if (new Set(set.data).size < set.data.length || !set.data.length)
        return [400, 3, 'data has to be unique'] as const;
      sets.push({ ...plain(set), ...(set.description && { description: set.description }) });
    }
    return sets.some((one) => one.name === ZONE && one.type === 'SOA') ? sets : ([400, 9, 'SOA is needed'] as const);
  }

  function act(body: unknown): Answer {
    const sets = changed(body as object);
    if (typeof sets[0] === 'number') return no(...(sets as readonly [number, number, string]));
    state.sets = sets as YandexSet[];
    const id = `dnsop${jobs.size}`;
    const end = { body: { id, done: true, response: {} } };
    if (!state.slow) return end;
    jobs.set(id, { left: state.slow, end });
    return { body: { id } };
  }

  function answer({ method, path, query, body }: Received): Answer {
    const paged = (key: string, all: object[]): Answer => {
      const from = Number(query.pageToken ?? 0);
      const to = from + Math.min(state.page, Number(query.pageSize ?? 100));
      const some = all.slice(from, to);
      return { body: { ...(some.length && { [key]: some }), ...(to < all.length && { nextPageToken: `${to}` }) } };
    };
    const [, job] = /^\/operations\/(\w+)$/.exec(path) ?? [];
    if (job) {
      const found = jobs.get(job);
      if (!found) return no(404, 5, 'Operation not found');
      return found.left-- > 0 ? { body: { id: job } } : found.end;
    }
    if (path === '/zones')
      return query.folderId === FOLDER ? paged('dnsZones', state.zones) : no(403, 7, 'Permission denied');
    const [, id, verb] = /^\/zones\/(\w+)(?::(\w+))?$/.exec(path) ?? [];
    const zone = state.zones.find((one) => one.id === id);
    if (!zone) return no(404, 5, `DnsZone not found: ${id}`);
    if (method === 'POST' && verb === 'updateRecordSets') return act(body);
    if (!verb) return { body: zone };
    if (verb === 'listRecordSets') return paged('recordSets', id === ID ? state.sets : []);
    const set = state.sets.find((one) => one.name === query.name && one.type === query.type);
    return set && verb === 'getRecordSet' ? { body: set } : no(404, 5, `RecordSet not found: ${query.name}`);
  }

  const standIn: StandIn = await startStandIn((request) => {
    if (request.path === '/iam/v1/tokens') return token(request.body);
    const known = state.tokens.some((one) => request.headers.authorization === `Bearer ${one}`);
    return known ? answer(request) : no(401, 16, 'The token is invalid');
  });
  return Object.assign(standIn, { state, key });
}
