/** The lock of a whole zone: whoever holds it, or a part of it (`HoldOptions`), writes its records, or deletes it. */
export const zoneLock = (domainId: number): string => `zone|${domainId}`;
