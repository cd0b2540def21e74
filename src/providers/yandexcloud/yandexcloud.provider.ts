import { isDeepStrictEqual } from 'node:util';
import { fullName } from '../../dns/names.js';
import { txtPresentation } from '../../dns/text.js';
import { timeMs } from '../../platform/common/clock.js';
import { asProviderError, cutShort, errorHooks, orNull, ProviderError, type VendorError } from '../kit/http/errors.js';
import { keyFile } from '../kit/http/key-file.js';
import { allPages } from '../kit/http/pages.js';
import { pollUntilDone } from '../kit/http/poll-until-done.js';
import { cachedToken, withBearerToken } from '../kit/http/token-cache.js';
import { fromRrsets, type RrsetVerbs } from '../kit/rrsets/from-rrsets.js';
import { type PlainSet, plainSets, recordsIn, setsAt } from '../kit/rrsets/plain-sets.js';
import type { RecordSet, SetKey } from '../kit/rrsets/record-set.js';
import { ps256 } from '../kit/signing/rs256.js';
import { zoneOf } from '../kit/zone/zones.js';
import type { Connect, RemoteZone } from '../provider.js';

/** As the API has it (recorded 2022; its definition of 2023): names with final dot; what is 0 or empty is left out. */
type ApiSet = { name: string; type: string; ttl?: string | number; data: string[]; description?: string };
type ApiZone = { id: string; zone: string; publicVisibility?: object; privateVisibility?: object };
type List<T> = { [key: string]: T[] | undefined } & { nextPageToken?: string };
type Operation = { id?: string; done?: boolean } | undefined;
type Failure = Partial<VendorError> & { error?: VendorError };

const TOKENS = 'https://iam.api.cloud.yandex.net/iam/v1/tokens';
const HOUR = 3600;
/** Up to so many sets are read one by one. */
const FEW_SETS = 3;
// codes of gRPC, which operations that failed have as well
const HOOKS = errorHooks(errorsOf, { auth: [7, 16], rate_limit: [8], not_found: [5], unavailable: [4, 13, 14] });

export const connect: Connect = ({ authorized_key, token = '', folder_id: folderId, endpoint }, context) => {
  const identity = authorized_key ? signedBy(authorized_key) : () => ({ yandexPassportOauthToken: token });
  // with another endpoint tokens and operations are there as well
  const errorKind = (status: number) => (status < 429 ? 'auth' : undefined);
  const tokens = context.http.extend({ ...HOOKS, errorKind, baseUrl: endpoint || new URL(TOKENS).origin });
  const fetch = async () => {
    if (token.startsWith('t1.')) return { token, seconds: HOUR };
    const options = { json: identity(), reads: true };
    const answer = await tokens.post<{ iamToken?: string } | undefined>(new URL(TOKENS).pathname, options);
    if (!answer?.iamToken) throw cutShort('token');
    // good for twelve hours, and to be fetched every hour (documentation)
    return { token: answer.iamToken, seconds: HOUR };
  };
  const http = context.http.extend(withBearerToken(cachedToken(fetch), HOOKS));
  const operations = http.extend({ baseUrl: endpoint || 'https://operation.api.cloud.yandex.net' });
  const list = <T>(path: string, key: string, idOf: (entry: T) => string, query = {}): Promise<T[]> =>
    allPages(idOf, async ({ next, page }) => {
      const options = { query: { ...query, pageSize: 1000, pageToken: next ?? undefined } };
      const answer = await http.get<List<T> | undefined>(path, options);
      // a list without entries is an empty answer (recorded 2022): who asks makes sure that it is not a cut one
      return { entries: answer && (answer[key] ?? (page === 1 ? [] : undefined)), next: answer?.nextPageToken || null };
    });
  const proven = async (zone: RemoteZone): Promise<ApiSet[]> => {
    if (!(await http.get<ApiZone | undefined>(pathOf(zone)))?.id) throw cutShort('zone');
    return [];
  };
  const whole = async (zone: RemoteZone): Promise<PlainSet[]> => {
    const all = await list<ApiSet>(
      `${pathOf(zone)}:listRecordSets`,
      'recordSets',
      ({ name, type }) => `${name} ${type}`,
    );
    return plainSets(all.length ? all : await proven(zone), plain);
  };
  const single = async (zone: RemoteZone, { host, type }: SetKey): Promise<PlainSet[]> => {
    const query = { name: `${fullName(host, zone.name)}.`, type };
    const set = await orNull(http.get<ApiSet>(`${pathOf(zone)}:getRecordSet`, { query }));
    // the set is not there, unless it is the zone that is not
    return plainSets(set === null ? await proven(zone) : [set], plain);
  };
  const update = async (zone: RemoteZone, json: object): Promise<void> => {
    const begun = await http.post<Operation>(`${pathOf(zone)}:updateRecordSets`, { json, idempotent: true });
    const look = (one: Operation) => operations.get<Operation>(`/operations/${one?.id}`);
    const ended = await pollUntilDone(begun, (one) => !!one?.id && !one.done, look);
    if (!ended?.done) throw cutShort('operation that is done').applied(true);
  };
  const verbs: RrsetVerbs = {
    async readSets(zone, keys) {
      const few = keys.length <= FEW_SETS && (await Promise.all(keys.map((key) => single(zone, key)))).flat();
      return setsAt(keys, few || (await whole(zone)), zone.name);
    },
    async replaceSets(zone, sets, was) {
      const additions = sets.filter((set) => set.members.length).map((set) => toApi(set, zone));
      const failure = await update(zone, { deletions: was.flatMap(({ raw }) => raw ?? []), additions }).then(
        () => null,
        asProviderError,
      );
      if (failure && !['rejected', 'not_found'].includes(failure.kind)) throw failure;
      // what goes has to be as it was read, and what comes not to be there (API definition): or it was changed
      const keys = was.map(({ host, type }) => ({ host, type }));
      const now = failure ? await verbs.readSets(zone, keys) : [];
      if (failure && now.every(({ raw }, i) => isDeepStrictEqual(raw, was[i]?.raw))) throw failure;
      return !failure;
    },
  };
  return {
    check: async () => void (await http.get('/zones', { query: { folderId, pageSize: 1 } })),
    async listZones() {
      const all = await list<ApiZone>('/zones', 'dnsZones', ({ id }) => id, { folderId });
      if (!all.length) throw new ProviderError('unavailable', 'The folder has no zones, or the answer is cut', false);
      // a zone can be both
      return all.map(({ id, zone, publicVisibility, privateVisibility }) =>
        zoneOf(zone, id, { hidden: !publicVisibility && privateVisibility !== undefined }),
      );
    },
    listRecords: async (zone) => recordsIn(await whole(zone), zone.name),
    apply: fromRrsets(verbs),
  };
};

const pathOf = (zone: RemoteZone): string => `/zones/${encodeURIComponent(zone.id)}`;

function errorsOf(body: unknown): VendorError[] {
  const { code, message = '', error } = (body ?? {}) as Failure;
  return error ? [error] : code ? [{ code, message }] : [];
}

function signedBy(json: string): () => object {
  const { key, texts } = keyFile(json, 'authorized key', ['id', 'service_account_id']);
  const { id: kid, service_account_id: iss } = texts;
  const claims = (iat: number) => ({ iss, aud: TOKENS, iat, exp: iat + HOUR });
  return () => ({ jwt: ps256(claims(Math.floor(timeMs() / 1000)), key, { kid }) });
}

/** Texts are kept as they were sent, with quotes or without (recorded 2022). */
const rdataOf = (type: string, text: string) => (type === 'TXT' && text[0] !== '"' ? txtPresentation(text) : text);

function plain(set: ApiSet): PlainSet {
  const { name, type, ttl = 0, data, ...extra } = set;
  return {
    name,
    type,
    ttl: Number(ttl),
    raw: set,
    extra,
    values: data.map((raw) => ({ rdata: rdataOf(type, raw), raw })),
  };
}

const toApi = ({ host, type, ttl, members, raw }: RecordSet, zone: RemoteZone): ApiSet => ({
  ...(raw as ApiSet | undefined),
  ...{ name: `${fullName(host, zone.name)}.`, type, ttl },
  // a value that stays is sent as it was read
  data: members.map(({ rdata, raw }) => (raw && rdataOf(type, `${raw}`) === rdata ? `${raw}` : rdata)),
});
