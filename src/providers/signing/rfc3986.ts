/** RFC 3986: also `!'()*`, which `encodeURIComponent` leaves alone. */
export const rfc3986 = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

/** A query in the form that is signed: encoded, in the order of the names. */
export const signedQuery = (parameters: Iterable<[name: string, value: string]>): string =>
  [...parameters]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map((pair) => pair.map(rfc3986).join('='))
    .join('&');
