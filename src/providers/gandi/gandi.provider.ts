import { fullName } from '../../dns/names.js';
import { txtPresentation } from '../../dns/text.js';
import { errorHooks, orNull, type VendorError } from '../kit/http/errors.js';
import { allPages } from '../kit/http/pages.js';
import { fromSets } from '../kit/rrsets/from-rrsets.js';
import { fewOrAll, type PlainSet, plainSets } from '../kit/rrsets/plain-sets.js';
import type { SetKey } from '../kit/rrsets/record-set.js';
import { absoluteRdata } from '../kit/values/absolute-rdata.js';
import { zoneOf } from '../kit/zone/zones.js';
import type { Connect, RemoteZone } from '../provider.js';

/** As the API answers (recorded 2020): the name relative, `@` at the apex; rdata as in zone files, TXT quoted. */
type ApiSet = { rrset_name: string; rrset_type: string; rrset_ttl: number; rrset_values: string[] } & {
  rrset_href?: string;
};
type Domain = { fqdn: string };
type Failure = { message?: string; object?: string; errors?: { name?: string; description?: string }[] };

const PAGE = 100;

export const connect: Connect = ({ token }, context) => {
  const http = context.http.extend({ headers: { authorization: `Bearer ${token}` }, ...errorHooks(errorsOf, {}) });
  const list = <T>(path: string, idOf: (entry: T) => string): Promise<T[]> =>
    allPages(
      idOf,
      async ({ page }) => {
        const { headers, body } = await http.exchange<T[] | undefined>('GET', path, {
          query: { page, per_page: PAGE },
        });
        const total = headers['total-count'];
        return { entries: body, ...(total === undefined ? {} : { total: Number(total) }) };
      },
      PAGE,
    );
  const plainIn = (zone: RemoteZone) => (set: ApiSet) => plain(set, zone.name);
  const whole = async (zone: RemoteZone) => {
    const sets = await list<ApiSet>(`${pathOf(zone)}/records`, (set) => `${set.rrset_name} ${set.rrset_type}`);
    return plainSets(sets, plainIn(zone));
  };
  const single = async (zone: RemoteZone, key: SetKey): Promise<PlainSet[]> => {
    const read = http.get<ApiSet | undefined>(setPath(zone, key));
    const found = await orNull(read.then((set) => plainSets(set && [set], plainIn(zone))));
    // the set is gone (recorded 2020), unless the zone is
    if (!found) await http.get(pathOf(zone));
    return found ?? [];
  };

  return {
    check: () => http.get('/domains', { query: { per_page: 1 } }),
    listZones: async () => (await list<Domain>('/domains', ({ fqdn }) => fqdn)).map(({ fqdn }) => zoneOf(fqdn)),
    async findZone(name) {
      const found = await orNull(http.get<Domain | undefined>(pathOf({ id: name, name })));
      return found?.fqdn && zoneOf(found.fqdn).name === name ? zoneOf(found.fqdn) : null;
    },
    ...fromSets(whole, {
      readSets: fewOrAll(5, single, whole),
      async replaceSet(zone, set) {
        const more = set.raw as object | undefined;
        const json = { ...more, rrset_values: set.members.map(({ rdata }) => rdata), rrset_ttl: set.ttl };
        if (set.members.length) return http.put(setPath(zone, set), { json }).then(() => true);
        // read once more where it is gone: it may be the zone that is
        return (await orNull(http.delete(setPath(zone, set)).then(() => true))) ?? false;
      },
    }),
  };
};

const pathOf = (zone: RemoteZone): string => `/domains/${encodeURIComponent(zone.id)}`;
const setPath = (zone: RemoteZone, { host, type }: SetKey): string =>
  `${pathOf(zone)}/records/${encodeURIComponent(host)}/${type}`;

function errorsOf(body: unknown): VendorError[] {
  const { message, object = 'error', errors = [] } = (Array.isArray(body) ? {} : (body ?? {})) as Failure;
  const details = [errors].flat().flatMap(({ name, description }) => (description ? [`${name}: ${description}`] : []));
  // a write that is carried out has a message, too, and no object of which it is
  const failed = details.length > 0 || object !== 'error';
  return failed ? [{ code: object, message: [message, ...details].filter(Boolean).join('; ') }] : [];
}

function plain(set: ApiSet, zone: string): PlainSet {
  const { rrset_name, rrset_type: type, rrset_ttl: ttl, rrset_values, rrset_href: _href, ...extra } = set;
  const values = rrset_values.map((value) => {
    if (type === 'TXT') return { rdata: value.startsWith('"') ? value : txtPresentation(value) };
    return { rdata: absoluteRdata(type, value, zone) };
  });
  return { name: fullName(rrset_name, zone), type, ttl, values, extra };
}
