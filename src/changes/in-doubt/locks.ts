import { zoneLock } from '../../domains/zone-identity.js';
import type { HoldOptions } from '../../platform/database/leases.js';

/**
 * The lock of one name of a zone, or of a whole zone (host `null`): of lists with many names, and of stores that are
 * written as a whole.
 */
export const lockOf = (domainId: number, host: string | null): string =>
  host === null ? zoneLock(domainId) : `name|${domainId}|${host}`;

/** A list that touches more names takes the lock of the zone. */
export const MAX_NAMES = 50;

/** The locks of a list: of its names, or of the zone. */
interface Locks {
  whole: boolean;
  names: string[];
  options: HoldOptions;
}

/** @param domainId the one that stands for the zone @param asWhole the provider is written zone by zone */
export function locksOf(domainId: number, hosts: readonly string[], asWhole: boolean): Locks {
  const zone = lockOf(domainId, null);
  const whole = asWhole || hosts.length > MAX_NAMES;
  if (whole) return { whole, names: [zone], options: { whole } };
  return { whole, names: hosts.map((host) => lockOf(domainId, host)), options: { within: zone } };
}
