import { errors } from '../platform/common/errors.js';
import { pickZone } from '../providers/kit/zone/zones.js';
import type { RemoteZone } from '../providers/provider.js';
import type { Domain } from './domain.entity.js';
import type { DomainRow } from './readable-domains.repository.js';

type Named = Pick<DomainRow, 'name' | 'apart'>;

/** The name of a domain as it is shown: a private zone has its id there, since a public one may have the same name. */
export const shownName = ({ name, apart }: Named): string => (apart ? `${name} (${apart})` : name);

/** @throws AppError 409001 for a private zone, of which there is nothing to ask public DNS, hosts or registries */
export function assertPublic(domain: Named): void {
  if (domain.apart) throw errors.conflict('domain_private', { name: shownName(domain) });
}

/** A domain as a list of zones is compared with. */
export type KnownZone = Pick<Domain, 'id' | 'name' | 'apart' | 'remote_id' | 'status'>;

/** Public zones of one name, of which an account has one as a domain, be it missing: ids. */
export interface ZoneConflict {
  name: string;
  kept: string;
  others: string[];
}

/** What a domain is bound to: a zone's id, and the same where the zone is private, else the empty text. */
export interface Binding {
  domain: KnownZone;
  remote_id: string;
  apart: string;
}

/** Which zones of a list are known domains. */
interface Matching {
  listed: Binding[];
  /** zones without a domain */
  fresh: (RemoteZone & { apart: string })[];
  /** domains without a zone */
  gone: KnownZone[];
  /** those of them whose name another domain gets: they stand apart from then on, as private ones do */
  yielding: KnownZone[];
  conflicts: ZoneConflict[];
}

const keyOf = (name: string, id: string): string => `${name} ${id}`;

function byName(zones: readonly RemoteZone[]): [RemoteZone, ...RemoteZone[]][] {
  const groups = new Map<string, [RemoteZone, ...RemoteZone[]]>();
  for (const zone of zones) {
    const group = groups.get(zone.name);
    if (group) group.push(zone);
    else groups.set(zone.name, [zone]);
  }
  return [...groups.values()];
}

/**
 * Which of the public zones of a name is a domain, and of which; neither where none is in use for the domain that has
 * the name, whose own zone is gone.
 */
function chosen(
  group: readonly RemoteZone[],
  owner: KnownZone | undefined,
  domainOf: (zone: RemoteZone) => KnownZone | undefined,
): { kept?: RemoteZone; domain?: KnownZone | undefined } {
  const bound = group.find(({ id }) => id === owner?.remote_id) ?? group.find(domainOf);
  if (bound) return { kept: bound, domain: domainOf(bound) };
  const kept = pickZone(group) as RemoteZone;
  return owner && kept.active === false ? {} : { kept, domain: owner };
}

/**
 * Finds the domains of zones: by the zone's id first, so that nothing is written into another zone of the same name.
 * Only a public domain whose zone is gone follows its name, to a zone that is in use.
 */
export function matchZones(known: readonly KnownZone[], zones: readonly RemoteZone[]): Matching {
  const byZone = new Map(known.map((domain) => [keyOf(domain.name, domain.remote_id), domain]));
  const domainOf = ({ name, id }: RemoteZone) => byZone.get(keyOf(name, id));
  const open = zones.filter((zone) => !zone.private);
  const closed = zones.filter((zone) => zone.private);
  const hidden = new Set(closed.map(domainOf));
  const owners = new Map(known.flatMap((one) => (one.apart || hidden.has(one) ? [] : [[one.name, one] as const])));
  const listed: Binding[] = [];
  const fresh: Matching['fresh'] = [];
  const yielding: KnownZone[] = [];
  const conflicts: ZoneConflict[] = [];
  const place = (domain: KnownZone | undefined, zone: RemoteZone, apart: string) => {
    if (domain) listed.push({ domain, remote_id: zone.id, apart });
    else fresh.push({ ...zone, apart });
  };
  for (const zone of closed) place(domainOf(zone), zone, zone.id);
  for (const group of byName(open)) {
    const [{ name }] = group;
    const owner = owners.get(name);
    const { kept, domain } = chosen(group, owner, domainOf);
    const others = group.filter((zone) => zone !== kept);
    if (kept) place(domain, kept, '');
    // the zone of the domain that has the name is gone: it makes way for one whose zone is there
    if (owner && domain && owner !== domain) yielding.push(owner);
    for (const zone of others) {
      const apart = domainOf(zone);
      if (apart) place(apart, zone, apart.apart);
    }
    const id = kept?.id ?? (owner as KnownZone).remote_id;
    if (others.length) conflicts.push({ name, kept: id, others: others.map((zone) => zone.id) });
  }
  const there = new Set(listed.map(({ domain }) => domain));
  return { listed, fresh, gone: known.filter((domain) => !there.has(domain)), yielding, conflicts };
}

/**
 * The lock of a whole zone: whoever holds it, or a part of it (`HoldOptions`), writes its records, or deletes it. Of
 * several domains that are one zone the first one names it (`SharedZone.ids`).
 */
export const zoneLock = (domainId: number): string => `zone|${domainId}`;
