import type { KeyObject } from 'node:crypto';
import { fullName } from '../../dns/names.js';
import { timeMs } from '../../platform/common/clock.js';
import { needed, orNull, ProviderError } from '../kit/http/errors.js';
import { allPages } from '../kit/http/pages.js';
import { fromSets } from '../kit/rrsets/from-rrsets.js';
import { fewOrAll, type PlainSet, plainSets } from '../kit/rrsets/plain-sets.js';
import type { SetMember } from '../kit/rrsets/record-set.js';
import { signOci } from '../kit/signing/oci.js';
import { privateKeyOf } from '../kit/signing/transip.js';
import { zoneOf } from '../kit/zone/zones.js';
import type { Connect, RemoteZone } from '../provider.js';

/** As the API has it (recorded 2022): names absolute without final dot, rdata as in zone files. */
type ApiRecord = { domain: string; rtype: string; rdata: string; ttl: number; recordHash: string } & {
  isProtected?: boolean;
  rrsetVersion?: string;
};
type ApiZone = { id: string; name: string; zoneType: string };

/** Up to so many sets are read one by one. */
const FEW_SETS = 3;

export const connect: Connect = (credentials, context) => {
  const {
    tenancy,
    user,
    fingerprint,
    private_key = '',
    compartment,
    region = '',
    view_id: viewId,
    endpoint,
  } = credentials;
  if (!/^[a-z0-9-]+$/.test(region)) throw new ProviderError('auth', 'That is no name of a region', false);
  const key = keyOf(private_key);
  const http = context.http.extend({
    ...(!endpoint && { baseUrl: `https://dns.${region}.oraclecloud.com/20180115` }),
    sign: (request) => signOci(request, `${tenancy}/${user}/${fingerprint}`, key, new Date(timeMs()).toUTCString()),
    errorMessage: (body) => (body as { message?: string } | null)?.message,
  });
  const scope = viewId ? { scope: 'PRIVATE' } : {};
  const list = <T>(path: string, of: (body: unknown) => T[] | undefined, idOf: (one: T) => string, query = {}) =>
    allPages(idOf, async ({ next }) => {
      const options = { query: { ...scope, ...query, limit: 100, page: next ?? undefined } };
      const { headers, body } = await http.exchange<unknown>('GET', path, options);
      const total = headers['opc-total-items'];
      const page = headers['opc-next-page'];
      const more = total === undefined ? {} : { total: Number(total) };
      return { entries: of(body), next: typeof page === 'string' ? page : null, ...more };
    });
  const zones = async (): Promise<RemoteZone[]> => {
    const asked = { compartmentId: compartment, scope: 'GLOBAL', ...scope, ...(viewId && { viewId }) };
    const all = await list<ApiZone>(
      '/zones',
      (body) => body as ApiZone[],
      ({ id }) => id,
      asked,
    );
    return all.flatMap((zone) =>
      zone.zoneType === 'PRIMARY' ? zoneOf(zone.name, idOf(zone), { hidden: viewId !== undefined }) : [],
    );
  };
  // of private zones several may have one name
  const idOf = ({ id, name }: ApiZone): string => (viewId ? id : name);
  const sets = async (zone: RemoteZone, below = '', query = {}): Promise<PlainSet[]> => {
    const items = (body: unknown) => (body as { items?: ApiRecord[] } | undefined)?.items;
    return plainSets(await list(`${pathOf(zone)}${below}`, items, ({ recordHash }) => recordHash, query), plain);
  };

  return {
    check: () => http.get('/zones', { query: { compartmentId: compartment, scope: 'GLOBAL', ...scope, limit: 1 } }),
    listZones: () => zones(),
    findZone: async (name) => {
      // all zones of a view are private
      if (viewId) return null;
      const asked = http.get<ApiZone | undefined>(`/zones/${encodeURIComponent(name)}`);
      const zone = await orNull(asked.then((found) => needed(found?.name && found, 'zone')));
      return zone?.zoneType === 'PRIMARY' ? zoneOf(zone.name) : null;
    },
    ...fromSets(sets, {
      readSets: fewOrAll(
        FEW_SETS,
        (zone, { host, type: rtype }) => sets(zone, `/${encodeURIComponent(fullName(host, zone.name))}`, { rtype }),
        sets,
      ),
      // what stays is not named, unless its TTL changes: that of a set is one
      async replaceSet(zone, { host, type: rtype, ttl, members }, was) {
        const domain = fullName(host, zone.name);
        const stays = (one: SetMember, others: readonly SetMember[]) =>
          ttl === was.ttl && others.some(({ remoteId }) => remoteId === one.remoteId);
        const gone = was.members.filter((member) => !stays(member, members));
        const come = members.filter((member) => !stays(member, was.members));
        const items = [
          ...gone.map((member) => ({ operation: 'REMOVE', recordHash: heldOf(member).recordHash })),
          ...come.map((one) => ({ operation: 'ADD', ...one.extra, domain, rtype, rdata: one.rdata, ttl })),
        ];
        await http.patch(`${pathOf(zone)}/${encodeURIComponent(domain)}`, { json: { items }, query: scope });
        return true;
      },
    }),
  };
};

const pathOf = (zone: RemoteZone): string => `/zones/${encodeURIComponent(zone.id)}/records`;
const heldOf = ({ raw }: SetMember): Partial<ApiRecord> => raw ?? {};

/** A record with what one that is added in its place takes over; what Oracle alone writes is left out. */
function plain(raw: ApiRecord): PlainSet {
  const {
    domain: name,
    rtype: type,
    rdata,
    ttl,
    isProtected,
    recordHash: _hash,
    rrsetVersion: _version,
    ...extra
  } = raw;
  const readOnly = isProtected ? 'It is protected by Oracle' : undefined;
  return { ...{ name, type, ttl, readOnly }, values: [{ rdata, raw, extra }] };
}

function keyOf(pem: string): KeyObject {
  try {
    return privateKeyOf(pem);
  } catch {
    throw new ProviderError('auth', 'The private key is none in PEM form without a pass phrase', false);
  }
}
