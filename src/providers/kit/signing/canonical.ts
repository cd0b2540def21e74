import { createHash, createHmac } from 'node:crypto';

/** What the signatures of AWS and of the clouds that follow it have in common. */

export const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
export const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** RFC 3986: also `!'()*`, which `encodeURIComponent` leaves alone. */
export const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

export const canonicalPath = ({ pathname }: Pick<URL, 'pathname'>): string =>
  pathname.split('/').map(decodeURIComponent).map(encoded).join('/');

/** Parameters of a query by their encoded names, then values. */
export const canonicalQuery = (parameters: Iterable<[name: string, value: string]>): string =>
  [...parameters]
    .map(([name, value]) => [encoded(name), encoded(value)] as const)
    .sort(([a, x], [b, y]) => (a === b ? (x < y ? -1 : 1) : a < b ? -1 : 1))
    .map((pair) => pair.join('='))
    .join('&');

/** Headers in lower case, sorted, blanks at the ends of values cut off; those that are signed. */
export const canonicalHeaders = (
  headers: Readonly<Record<string, string>>,
  isSigned: (name: string) => boolean,
): [name: string, value: string][] =>
  Object.entries(headers)
    .map(([name, value]): [string, string] => [name.toLowerCase(), value.trim()])
    .filter(([name]) => isSigned(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));

/** `20260301T080910Z` */
export const compactTime = (now: Date): string => now.toISOString().replace(/[-:]|\.\d{3}/g, '');
