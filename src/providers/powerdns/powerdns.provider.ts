import { fullName, hostmasterOf } from '../../dns/names.js';
import { rdataOf } from '../../dns/record.js';
import { sifted } from '../../platform/common/turns.js';
import { currentDeadline } from '../kit/http/deadline-context.js';
import { ProviderError } from '../kit/http/errors.js';
import { RateLimiter } from '../kit/http/rate-limiter.js';
import { fromRrsets } from '../kit/rrsets/from-rrsets.js';
import {
  type IsFar,
  leastWork,
  type PlainSet,
  plainSets,
  provenSearch,
  recordsIn,
  recordsInPieces,
  setsAt,
  withSoaInPieces,
} from '../kit/rrsets/plain-sets.js';
import type { RecordSet, SetKey } from '../kit/rrsets/record-set.js';
import { type Connect, type Credentials, listed, type RemoteZone } from '../provider.js';

/** More than a name has records: a search that answers so many may be cut. */
const SEARCH_MAX = 2000;
/** What the server writes as primary server when its `default-soa-content` is not set (seen on 4.7). */
const PLACEHOLDER_SOA = 'a.misconfigured.dns.server.invalid.';

export const connect: Connect = (credentials, context) => {
  const http = context.http.extend({
    baseUrl: baseUrl(credentials),
    headers: { 'x-api-key': credentials.api_key ?? '' },
    errorMessage: (body) => (body as { error?: string } | null)?.error,
    // 404 since 4.2, before it 422 (recorded)
    errorKind: (status, body) =>
      status === 422 && JSON.stringify(body).includes('Could not find domain') ? 'not_found' : undefined,
  });
  const readSome = async (zone: RemoteZone, query = {}) =>
    plainSets((await http.get<ApiZone | undefined>(pathOf(zone), { query }))?.rrsets, plain);
  async function* setsOf(zone: RemoteZone, isFar: IsFar) {
    for await (const sets of http.entries<ApiSet>(pathOf(zone), 'rrsets'))
      yield plainSets(await sifted(sets, (set) => !isFar(set?.name)), plain);
  }
  const readWhole = (zone: RemoteZone, isFar: IsFar = () => false) => withSoaInPieces(setsOf(zone, isFar), zone.name);

  // One PATCH, all sets or none. Whole sets are replaced, so it may be repeated. One at a time: over SQLite the
  // server answers 500 to a write that meets another one, and nothing is changed (tried again after a moment); over
  // PostgreSQL two at once get one serial, and secondaries would miss the second (seen on 4.7.3).
  const writes = new RateLimiter(1);
  const write = (zone: RemoteZone, rrsets: unknown[]) =>
    writes.run(() => http.patch(pathOf(zone), { json: { rrsets }, idempotent: true, busy: [500] }), currentDeadline());

  // The SQL backends search, LMDB answers nothing at all (seen on 4.7). `*` and `?` are wildcards; what else matches
  // (contents, names of other zones, also of those below this one) is left out. Of comments it tells only a part.
  const search = provenSearch(async (zone, name) => {
    const query = { q: name.replace(/\.$/, ''), max: SEARCH_MAX, object_type: 'all' };
    const all = await http.get<Found[] | undefined>('/search-data', { query });
    if (/[*?]/.test(name) || !Array.isArray(all) || all.length >= SEARCH_MAX) return null;
    const here = all.filter((found) => found.zone === `${zone}.` && found.object_type !== 'zone');
    if (here.some((found) => found.object_type === 'comment')) return null;
    return plainSets(here, (found) => plain({ ...found, records: [found] }));
  });
  // asked once: a server that is updated meanwhile is only read more than it needs
  let known: Promise<boolean> | undefined;
  /**
   * Servers before 4.6 ignore the filter, those before 5.0 leave out disabled records when it is given (issue 11473;
   * seen on 4.7), and writing such a set back would lose them: they are searched. Failing to tell means no.
   */
  async function readFew(zone: RemoteZone, keys: SetKey[]): Promise<PlainSet[] | null> {
    known ??= http.get<{ version?: string } | undefined>('').then(
      (server) => Number.parseInt(server?.version ?? '', 10) >= 5,
      () => false,
    );
    const names = keys.map((key) => apiName(key.host, zone));
    if (!(await known)) return search(zone.name, names);
    const some = keys.map(({ type }, i) => readSome(zone, { rrset_name: names[i], rrset_type: type }));
    return (await Promise.all(some)).flat();
  }
  const read = leastWork(readFew, readWhole);

  return {
    check: () => http.get(''),
    async listZones() {
      const zones = await http.get<ApiZone[] | undefined>('/zones');
      if (!Array.isArray(zones)) throw new ProviderError('unavailable', 'PowerDNS did not answer a list of zones');
      return zones.filter((z) => z.name !== '.').map(remoteZone);
    },
    async findZone(name) {
      const zones = await http.get<ApiZone[] | undefined>('/zones', { query: { zone: `${name}.` } });
      return zones?.map(remoteZone).find((zone) => zone.name === name) ?? null;
    },
    recordPieces: (zone) => recordsInPieces(readWhole(zone), zone.name),
    listRecords: async (zone) => recordsIn(await allOf(readWhole(zone)), zone.name),
    apply: fromRrsets({
      async readSets(zone, keys) {
        return setsAt(keys, await read(zone, keys), zone.name);
      },
      replaceSets: (zone, sets) => write(zone, sets.map(apiChange(zone))).then(() => true),
    }),
    async createZone(name) {
      const nameservers = listed(credentials.nameservers);
      const absolute = nameservers.map((n) => n.replace(/\.?$/, '.'));
      const body = { name: `${name}.`, kind: 'Native', nameservers: absolute };
      const made = await http.post<ApiZone>('/zones', { json: body });
      const soa = made.rrsets?.find((s) => s.type === 'SOA');
      if (!soa || soa.records.some((r) => r.content.startsWith(PLACEHOLDER_SOA))) {
        const rdata = `${absolute[0] ?? `${name}.`} ${hostmasterOf(name)} 0 10800 3600 604800 3600`;
        const members = [{ remoteId: '', rdata, enabled: true }];
        await write(remoteZone(made), [apiChange({ id: '', name })({ host: '@', type: 'SOA', ttl: 3600, members })]);
      }
      return remoteZone(made);
    },
    deleteZone: (zone) => http.delete(pathOf(zone)),
  };
};

/** As the API has them (OpenAPI): names absolute with final dot, `content` is rdata, the TTL that of the set. */
type ApiSet = { name: string; type: string; ttl: number; records: { content: string; disabled?: boolean }[] } & {
  comments?: object[];
};
type ApiZone = { id: string; name: string; rrsets?: ApiSet[] };
type Found = ApiSet & ApiSet['records'][number] & { zone: string; object_type: string };

function baseUrl(credentials: Credentials): string {
  const url = (credentials.endpoint || credentials.url || '').replace(/\/+$/, '').replace(/\/api\/v1$/, '');
  return `${url}/api/v1/servers/${encodeURIComponent(credentials.server_id || 'localhost')}`;
}

const pathOf = (zone: RemoteZone): string => `/zones/${encodeURIComponent(zone.id)}`;
const apiName = (host: string, zone: RemoteZone): string => `${fullName(host, zone.name)}.`;
const remoteZone = ({ id, name }: ApiZone): RemoteZone => ({ id, name: name.toLowerCase().replace(/\.$/, '') });

async function allOf(pieces: AsyncIterable<PlainSet[]>): Promise<PlainSet[]> {
  const all: PlainSet[] = [];
  for await (const sets of pieces) for (const set of sets) all.push(set);
  return all;
}

function plain({ name, type, ttl, records, comments }: ApiSet): PlainSet {
  // 4.7 answers IPv4-mapped addresses in a form that it refuses to take back
  const text = (content: string) => (type === 'AAAA' ? rdataOf({ type, value: content, priority: null }) : content);
  const values = records.map((r) => ({ rdata: text(r.content), enabled: !r.disabled }));
  return { name, type, ttl, values, raw: null, extra: { comments } };
}

/**
 * Rdata of SVCB and HTTPS as 4.7 takes it: ECH and keys by their numbers in quotes, also without a value, and addresses
 * that contain one of IPv4 in dotted form.
 */
const serviceText = (rdata: string): string =>
  rdata
    .replace(/ (ech|key\d+)(?:=([^" ]*))?(?= |$)/g, ' $1="$2"')
    .replace(
      /(?<= ipv6hint=\S*)(?<==|,)(::(?:ffff:)?)([0-9a-f]{1,4}):([0-9a-f]{1,4})(?=,| |$)/g,
      (_all, head, a, b) => {
        const octets = [a, b].flatMap((word) => [Number.parseInt(word, 16) >> 8, Number.parseInt(word, 16) & 255]);
        return `${head}${octets.join('.')}`;
      },
    );

/** What PATCH needs to make a set as it shall be, with `comments` where it is made anew; else they stay (OpenAPI). */
const apiChange = (zone: RemoteZone) => (set: RecordSet) => {
  const { type, ttl, members } = set;
  const name = apiName(set.host, zone);
  const text = (rdata: string) => (/^(SVCB|HTTPS)$/.test(type) ? serviceText(rdata) : rdata);
  const records = members.map((m) => ({ content: text(m.rdata), disabled: !m.enabled }));
  if (!records.length) return { name, type, changetype: 'DELETE' };
  return { name, type, ttl, changetype: 'REPLACE', records, ...(set.raw as { comments: object[] } | null | undefined) };
};
