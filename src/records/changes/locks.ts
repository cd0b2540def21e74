/** The lock of one name of a zone, or of a whole zone where the provider rewrites it as a whole (host `null`). */
export const lockOf = (domainId: number, host: string | null): string =>
  host === null ? `zone|${domainId}` : `name|${domainId}|${host}`;
