import { neededList } from '../kit/http/errors.js';
import { allPages, nextLink } from '../kit/http/pages.js';
import { fromSets } from '../kit/rrsets/from-rrsets.js';
import { fewOrAll, type PlainSet, plainSets } from '../kit/rrsets/plain-sets.js';
import type { RecordSet, SetKey } from '../kit/rrsets/record-set.js';
import { zoneInfo, zoneNamed, zoneOf } from '../kit/zone/zones.js';
import type { Connect, RemoteZone } from '../provider.js';

/** As the API has them (recorded 2025): `name` absolute with final dot, `subname` relative, '' at the apex. */
type ApiSet = { name: string; subname: string; type: string; ttl: number; records: string[] } & {
  [own in 'domain' | 'created' | 'touched']?: string;
};
type ApiDomain = { name: string; minimum_ttl?: number };

/** Up to so many sets are read one by one; more are read with the whole zone: an account reads 50 times a minute. */
const FEW_SETS = 2;

export const connect: Connect = ({ token }, context) => {
  const http = context.http.extend({ headers: { authorization: `Token ${token}` }, errorMessage });
  // lists of more than 500 are refused where no page is asked for (documented): the cursor of the first one is empty
  const list = <T>(path: string, idOf: (entry: T) => string): Promise<T[]> =>
    allPages(idOf, async ({ next }) => {
      const { body, headers } = await http.exchange<T[]>('GET', path, { query: { cursor: next ?? '' } });
      const link = nextLink(headers.link);
      return { entries: body, next: link && (new URL(link, 'https://desec.io').searchParams.get('cursor') ?? '') };
    });
  const domains = async (): Promise<ApiDomain[]> => list('/domains/', ({ name }) => name);
  const whole = async (zone: RemoteZone): Promise<PlainSet[]> =>
    plainSets(await list<ApiSet>(pathOf(zone), (set) => `${set?.subname} ${set?.type}`), plain);
  const single = async (zone: RemoteZone, { host, type }: SetKey): Promise<PlainSet[]> =>
    plainSets(await http.get<ApiSet[]>(pathOf(zone), { query: { subname: subnameOf(host), type } }), plain);

  return {
    check: async () => void (await domains()),
    listZones: async () => remoteZones(await domains()),
    async findZone(name) {
      // the domain that the name is in (documented): this one, one above it, or none
      return zoneNamed(name, http.get<ApiDomain[]>('/domains/', { query: { owns_qname: name } }).then(remoteZones));
    },
    async zoneInfo(zone) {
      const { minimum_ttl: minTtl = null } = await http.get<ApiDomain>(`/domains/${encodeURIComponent(zone.id)}/`);
      return zoneInfo({ minTtl });
    },
    ...fromSets(whole, {
      readSets: fewOrAll(FEW_SETS, single, whole),
      // carried out whole or not at all; a set without records is removed (documented)
      replaceSets: (zone, sets) => http.put(pathOf(zone), { json: sets.map(toApi) }).then(() => true),
    }),
  };
};

const pathOf = (zone: RemoteZone): string => `/domains/${encodeURIComponent(zone.id)}/rrsets/`;
const remoteZones = (all: readonly ApiDomain[]): RemoteZone[] =>
  neededList(all, 'list of domains').map(({ name }) => zoneOf(name));
const subnameOf = (host: string): string => (host === '@' ? '' : host);

/** A set with what else is in it, but what deSEC alone writes. */
function plain({ name, type, ttl, records, ...more }: ApiSet): PlainSet {
  const { subname: _s, domain: _d, created: _c, touched: _t, ...extra } = more;
  return { name, type, ttl, extra, values: records.map((rdata) => ({ rdata })) };
}

const toApi = ({ host, type, ttl, members, raw }: RecordSet) => ({
  ...(raw as object | undefined),
  ...{ subname: subnameOf(host), type, ttl, records: members.map((member) => member.rdata) },
});

/**
 * What is wrong is said under `detail`, or under the fields that it is of; of several sets in a list, with {} for those
 * that are right (documented).
 */
function errorMessage(body: unknown): string | undefined {
  if (typeof body === 'string') return undefined;
  const words = (node: unknown): string[] =>
    typeof node === 'string'
      ? [node]
      : Object.entries(node ?? {}).flatMap(([key, inner]) =>
          words(inner).map((text) => (/^(\d+|detail|non_field_errors)$/.test(key) ? text : `${key}: ${text}`)),
        );
  return words(body).join('; ') || undefined;
}
