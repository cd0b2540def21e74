import { fullName } from '../../dns/names.js';
import { timeMs } from '../../platform/common/clock.js';
import { cutShort, needed, orNull, ProviderError } from '../kit/http/errors.js';
import type { OutgoingRequest } from '../kit/http/http-client.js';
import { allPages, byId } from '../kit/http/pages.js';
import { cachedToken } from '../kit/http/token-cache.js';
import { serializePerZone } from '../kit/records/serialize-per-zone.js';
import { fromRrsets } from '../kit/rrsets/from-rrsets.js';
import { type PlainSet, plainSets, recordsIn, setsAt } from '../kit/rrsets/plain-sets.js';
import { zoneNamed, zoneOf } from '../kit/zone/zones.js';
import type { Connect, Credentials, RemoteZone } from '../provider.js';

/** As the API has it (its source 2024; recorded 2023 of a relative): names with final dot, rdata of zone files. */
type ApiSet = RemoteZone & { type: string; ttl: number | null; records: string[]; action?: string; status?: string } & {
  description?: string | null;
};
type ApiZone = RemoteZone & { type?: string; ttl: number; action?: string };
type List<T> = { [key: string]: T[] | undefined } & { links?: { next?: string }; metadata?: { total_count?: number } };
type Token = { expires_at?: string; catalog?: { type: string; endpoints: Endpoint[] }[] };
type Endpoint = { interface: string; region?: string; url: string };
type Failure = { message?: string; errors?: unknown; error?: { message?: string } };

export const connect: Connect = (credentials, context) => {
  const { auth_url = '', region, endpoint } = credentials;
  const errorMessage = (body: unknown): string | undefined => {
    const { message, errors, error } = (body ?? {}) as Failure;
    return error?.message ?? ([message ?? [], errors ? JSON.stringify(errors) : []].flat().join(': ') || undefined);
  };
  const keystone = context.http.extend({ baseUrl: auth_url.replace(/(\/v3)?\/*$/, '/v3'), errorMessage });
  let address = endpoint ?? '';
  const token = cachedToken(async () => {
    const call = { json: { auth: authOf(credentials) }, reads: true };
    const { headers, body } = await keystone.exchange<{ token?: Token } | undefined>('POST', '/auth/tokens', call);
    const { expires_at = '', catalog } = needed(body?.token, 'token');
    address = endpoint || addressIn(catalog, region);
    const seconds = (Date.parse(expires_at) - timeMs()) / 1000;
    return { token: needed(`${headers['x-subject-token'] ?? ''}`, 'token'), seconds: seconds || 0 };
  });
  const http = context.http.extend({
    errorMessage,
    // the catalogue that comes with the token says where the service is
    baseUrl: 'http://catalogue',
    async beforeRequest(request: OutgoingRequest) {
      const headers = { ...request.headers, 'x-auth-token': await token.get() };
      const url = new URL(`${address.replace(/(\/v2)?\/*$/, '/v2')}${request.url.pathname}${request.url.search}`);
      return { ...request, url, headers };
    },
    renews(status) {
      if (status === 401) token.forget();
      return status === 401;
    },
  });
  const list = <T extends RemoteZone>(path: string, key: string, query = {}): Promise<T[]> =>
    allPages<T>(byId, async ({ next: marker }) => {
      const paged = { ...query, limit: PAGE, marker: marker ?? undefined };
      const answer = await http.get<List<T> | undefined>(path, { query: paged });
      const { links, metadata } = answer ?? {};
      const next = links?.next ? (new URL(links.next, 'http://catalogue').searchParams.get('marker') ?? '') : null;
      return { entries: answer?.[key], next, total: metadata?.total_count ?? Number.NaN };
    });
  // those of others are read only, and those on their way out gone
  const zones = async (query = {}) =>
    (await list<ApiZone>('/zones', 'zones', query)).flatMap(({ id, name, type, action }) =>
      type === 'SECONDARY' || action === 'DELETE' ? [] : zoneOf(name, id),
    );
  const sets = async (zone: RemoteZone): Promise<PlainSet[]> => {
    const all = (await list<ApiSet>(`${pathOf(zone)}/recordsets`, 'recordsets')).filter((set) => !isGoing(set));
    // a set may have that of its zone
    const ofZone = async () => needed((await http.get<ApiZone | undefined>(pathOf(zone)))?.ttl, 'TTL of the zone');
    const own = all.some((set) => set?.ttl === null) ? await ofZone() : 0;
    return plainSets(all, ({ id, name, type, ttl, records, description }) => ({
      ...{ name, type, ttl: ttl === null ? own : ttl, raw: id, extra: { description } },
      values: records.map((rdata) => ({ rdata })),
    }));
  };

  return {
    check: () => http.get('/zones', { query: { limit: 1 } }),
    listZones: () => zones(),
    findZone: (name) => zoneNamed(name, zones({ name: `${name}.` })),
    // refused: "Updating a root zone NS record is not allowed" (its source 2024)
    listRecords: async (zone) =>
      (await recordsIn(await sets(zone), zone.name)).map((record) =>
        record.type === 'NS' && record.host === '@' ? { ...record, readOnly: true } : record,
      ),
    // the pages of its list shift with each write
    apply: serializePerZone(
      fromRrsets({
        readSets: async (zone, keys) => setsAt(keys, await sets(zone), zone.name),
        async replaceSet(zone, { host, type, ttl, members, extra }, was) {
          const path = `${pathOf(zone)}/recordsets`;
          const records = members.map(({ rdata }) => rdata);
          if (typeof was.raw !== 'string') {
            await http.post(path, { json: { name: `${fullName(host, zone.name)}.`, type, ttl, records, ...extra } });
            return true;
          }
          // where it was gone, all is read once more; of the rest of it what is not sent stays
          const one = `${path}/${encodeURIComponent(was.raw)}`;
          const json = { records, ...(ttl === was.ttl ? {} : { ttl }) };
          return (await orNull(members.length ? http.put(one, { json }) : http.delete(one))) !== null;
        },
      }),
    ),
  };
};

const PAGE = 1000;
const pathOf = ({ id }: RemoteZone): string => `/zones/${encodeURIComponent(id)}`;
const isGoing = (set: ApiSet | null): boolean => set?.action === 'DELETE' || set?.status === 'PENDING_DELETE';

/** What Keystone v3 is asked with; an application credential is of its project already. */
function authOf({
  application_credential_id: id,
  application_credential_secret: secret,
  ...user
}: Credentials): object {
  if (id) return { identity: { methods: ['application_credential'], application_credential: { id, secret } } };
  const { username, password, user_domain = 'Default', project, project_domain = 'Default' } = user;
  return {
    identity: {
      methods: ['password'],
      password: { user: { name: username, password, domain: { name: user_domain } } },
    },
    scope: { project: { name: project, domain: { name: project_domain } } },
  };
}

/** The public address of the DNS service. @throws ProviderError where there is none */
function addressIn(catalog: Token['catalog'], region: string | undefined): string {
  if (!catalog) throw cutShort('catalogue');
  const all = catalog.flatMap(({ type, endpoints }) => (type === 'dns' ? endpoints : []));
  const found = all.find((one) => one.interface === 'public' && (!region || one.region === region));
  if (!found) throw new ProviderError('auth', `The catalogue of Keystone has no DNS service${region ? ' there' : ''}`);
  return found.url;
}
