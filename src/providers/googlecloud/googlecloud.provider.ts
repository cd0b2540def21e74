import { fullName } from '../../dns/names.js';
import { timeMs } from '../../platform/common/clock.js';
import { errorHooks, ProviderError, type VendorError } from '../kit/http/errors.js';
import { keyFile } from '../kit/http/key-file.js';
import { oauth2 } from '../kit/http/oauth2.js';
import { allPages } from '../kit/http/pages.js';
import { fromSets } from '../kit/rrsets/from-rrsets.js';
import { fewOrAll, type PlainSet, plainSets, withSoa } from '../kit/rrsets/plain-sets.js';
import type { RecordSet, SetKey } from '../kit/rrsets/record-set.js';
import { rs256 } from '../kit/signing/rs256.js';
import { zoneNamed, zoneOf } from '../kit/zone/zones.js';
import type { Connect, RemoteZone } from '../provider.js';

/** As the API answers (discovery document 2021): names absolute, rdata as in zone files; a routed set has no rdata. */
type ApiSet = { name: string; type: string; ttl?: number; rrdatas?: string[]; routingPolicy?: object } & {
  [own in 'kind' | 'signatureRrdatas']?: unknown;
};
type ApiZone = { id: string; dnsName: string; visibility?: string };
type List = { managedZones?: ApiZone[]; rrsets?: ApiSet[]; nextPageToken?: string; kind?: string };
type Failure = { error?: { message?: string; status?: string; errors?: { reason?: string; message?: string }[] } };

const TOKENS = 'https://oauth2.googleapis.com';
const SCOPE = 'https://www.googleapis.com/auth/ndev.clouddns.readwrite';
/** Seconds; the most that is allowed. */
const HOUR = 3600;
/** Up to so many sets are read one by one. */
const FEW_SETS = 5;
const KINDS = {
  changed: ['conditionNotMet', 'alreadyExists', 'staleDeletion'],
  rate_limit: ['rateLimitExceeded', 'userRateLimitExceeded'],
};

export const connect: Connect = ({ service_account = '', project: other, endpoint }, context) => {
  const { key, texts } = keyFile(service_account, 'service account', ['client_email']);
  const { client_email: iss, project_id: project = '' } = texts;
  const assertion = (iat = Math.floor(timeMs() / 1000)) =>
    rs256({ iss, scope: SCOPE, aud: `${TOKENS}/token`, iat, exp: iat + HOUR }, key);
  const form = () => ({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion: assertion() });
  // with another endpoint the token comes from there as well
  const tokens = context.http.extend({ baseUrl: endpoint || TOKENS });
  const http = context.http.extend(oauth2(tokens, '/token', form, errorHooks(errorsOf, KINDS)));
  const root = `/projects/${encodeURIComponent(other || project)}/managedZones`;
  const pathOf = (zone: RemoteZone) => `${root}/${encodeURIComponent(zone.id)}`;
  const list = <T>(path: string, key: 'managedZones' | 'rrsets', idOf: (entry: T) => string, query = {}) =>
    allPages(idOf, async ({ next }) => {
      const page = { ...query, maxResults: 1000, pageToken: next ?? undefined };
      const answer = await http.get<List | undefined>(path, { query: page });
      // Google may leave out a list without entries; `kind` tells that answer from one that is cut
      const entries = answer?.[key] ?? (answer?.kind?.endsWith('ListResponse') ? [] : undefined);
      return { entries: entries as T[] | undefined, next: answer?.nextPageToken || null };
    });
  const sets = async (zone: RemoteZone, query = {}) =>
    plainSets(
      await list<ApiSet>(`${pathOf(zone)}/rrsets`, 'rrsets', ({ name, type }) => `${name} ${type}`, query),
      plain,
    );
  const single = (zone: RemoteZone, { host, type }: SetKey) =>
    sets(zone, { name: `${fullName(host, zone.name)}.`, type });
  const whole = async (zone: RemoteZone) => withSoa(await sets(zone), zone.name);
  const zones = async (query = {}): Promise<RemoteZone[]> => {
    const all = await list<ApiZone>(root, 'managedZones', ({ id }) => id, query);
    // absent in 2018
    return all.map(({ id, dnsName, visibility }) => zoneOf(dnsName, id, { hidden: visibility === 'private' }));
  };

  return {
    check: () => http.get(root, { query: { maxResults: 1 } }),
    listZones: () => zones(),
    findZone: (name) => zoneNamed(name, zones({ dnsName: `${name}.` })),
    ...fromSets(whole, {
      readSets: fewOrAll(FEW_SETS, single, whole),
      async replaceSets(zone, all, was) {
        const held = was.flatMap(({ raw }) => (raw ? [raw as ApiSet] : []));
        // what goes is repeated exactly: who changed it meanwhile is seen
        const deletions = held.map(bare);
        const additions = all.filter((set) => set.members.length).map((set) => toApi(set, zone));
        try {
          await http.post(`${pathOf(zone)}/changes`, { json: { additions, deletions }, idempotent: true });
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
  const { message = '', status = '', errors } = (body as Failure | undefined)?.error ?? {};
  const all = errors?.length ? errors : [{ reason: status, message }];
  return all.flatMap(({ reason = status, message: words = message }) => {
    // a 404 is of the zone, or of a set that is not there any more
    const stale = reason === 'notFound' && words.includes('entity.change');
    return words ? [{ code: stale ? 'staleDeletion' : reason, message: words }] : [];
  });
}

function plain(set: ApiSet): PlainSet {
  const { name, type, ttl = 0, rrdatas, routingPolicy, ...extra } = bare(set);
  const routed = routingPolicy && `routed: ${JSON.stringify(routingPolicy)}`;
  const values = (routed ? [routed] : (rrdatas ?? [])).map((rdata) => ({ rdata }));
  return { name, type, ttl, values, raw: set, extra, readOnly: routed && 'It is routed by a policy' };
}

/** A set without what Google alone says of it. */
const bare = ({ kind: _kind, signatureRrdatas: _signatures, ...set }: ApiSet) => set;

const toApi = ({ host, type, ttl, members, raw }: RecordSet, zone: RemoteZone): ApiSet => ({
  ...(raw ? bare(raw as ApiSet) : {}),
  ...{ name: `${fullName(host, zone.name)}.`, type, ttl, rrdatas: members.map(({ rdata }) => rdata) },
});
