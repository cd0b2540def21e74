/**
 * The lock of a whole zone: whoever holds it, or a part of it (`HoldOptions`), writes its records, or deletes it. Of
 * several domains that are one zone the first one names it (`SharedZone.ids`).
 */
export const zoneLock = (domainId: number): string => `zone|${domainId}`;
