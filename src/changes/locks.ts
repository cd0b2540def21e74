import { zoneLock } from '../domains/zone-lock.js';

/**
 * The lock of one name of a zone, or of a whole zone (host `null`): of lists with many names, and of stores that are
 * written as a whole.
 */
export const lockOf = (domainId: number, host: string | null): string =>
  host === null ? zoneLock(domainId) : `name|${domainId}|${host}`;

/** A list that touches more names takes the lock of the zone. */
export const MAX_NAMES = 50;
