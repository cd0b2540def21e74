import { fullName, toAscii } from '../../dns/names.js';
import { txtPresentation } from '../../dns/text.js';
import { errorHooks, ProviderError, type VendorError } from '../errors.js';
import { allPages } from '../pages.js';
import { type PlainSet, plainSets, recordsIn, setsAt } from '../plain-sets.js';
import type { Connect, RemoteZone } from '../provider.js';
import { fromRrsets, type SetKey } from '../rrset.js';

/** As the API answers (recorded 2020): the name relative, `@` at the apex; rdata as in zone files, TXT quoted. */
type ApiSet = { rrset_name: string; rrset_type: string; rrset_ttl: number; rrset_values: string[] };
type Domain = { fqdn: string };
type Failure = { message?: string; object?: string; errors?: { name?: string; description?: string }[] };

const PAGE = 100;
/** Up to so many sets are read one by one. */
const FEW_SETS = 5;
/** Types whose rdata ends with a name, which is relative to the zone without its final dot. */
const NAMES = ['CNAME', 'NS', 'PTR', 'ALIAS', 'MX', 'SRV'];

const isGone = (error: unknown): boolean => error instanceof ProviderError && error.kind === 'not_found';

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
    try {
      const set = await http.get<ApiSet | undefined>(setPath(zone, key));
      return plainSets(set && [set], plainIn(zone));
    } catch (error) {
      if (!isGone(error)) throw error;
      // the set (recorded 2020), unless the zone is gone
      await http.get(pathOf(zone));
      return [];
    }
  };

  return {
    check: () => http.get('/domains', { query: { per_page: 1 } }),
    async listZones() {
      const domains = await list<Domain>('/domains', ({ fqdn }) => fqdn);
      return domains.map(({ fqdn }) => ({ id: fqdn, name: toAscii(fqdn) }));
    },
    async findZone(name) {
      const found = await http.get<Domain | undefined>(pathOf({ id: name, name })).catch((error) => {
        if (!isGone(error)) throw error;
      });
      return found?.fqdn && toAscii(found.fqdn) === name ? { id: found.fqdn, name } : null;
    },
    listRecords: async (zone) => recordsIn(await whole(zone), zone.name),
    apply: fromRrsets({
      async readSets(zone, keys) {
        const few = keys.length <= FEW_SETS && (await Promise.all(keys.map((key) => single(zone, key)))).flat();
        return setsAt(keys, few || (await whole(zone)), zone.name);
      },
      async replaceSet(zone, set) {
        const json = { rrset_values: set.members.map(({ rdata }) => rdata), rrset_ttl: set.ttl };
        try {
          if (set.members.length) await http.put(setPath(zone, set), { json });
          else await http.delete(setPath(zone, set));
          return true;
        } catch (error) {
          // read once more: it may be the zone that is gone
          if (!set.members.length && isGone(error)) return false;
          throw error;
        }
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

function plain({ rrset_name, rrset_type: type, rrset_ttl: ttl, rrset_values }: ApiSet, zone: string): PlainSet {
  const values = rrset_values.map((value) => {
    if (type === 'TXT') return { rdata: value.startsWith('"') ? value : txtPresentation(value) };
    if (!NAMES.includes(type) || value.endsWith('.')) return { rdata: value };
    return { rdata: /(^| )@$/.test(value) ? value.replace(/@$/, `${zone}.`) : `${value}.${zone}.` };
  });
  return { name: fullName(rrset_name, zone), type, ttl, values };
}
