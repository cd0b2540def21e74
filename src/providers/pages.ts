import { ProviderError } from './errors.js';

/** One page of a list. What a vendor does not say is left out; of `total` and `next` it has to say one, or neither. */
export interface Page<T> {
  entries: readonly T[] | undefined;
  /** of all pages */
  total?: number;
  /** of this page, where the vendor says it: one that holds another number is cut */
  count?: number;
  /** where the next page begins: a cursor, a link, a page; null after the last one */
  next?: string | number | null;
}

/** What to ask for: the page from 1, the entries so far, or what the page before gave as `next`. */
export interface PageRequest {
  page: number;
  offset: number;
  next: string | number | null;
}

/** A list that changes while it is read is read again from the start, so often at most. */
const ATTEMPTS = 3;

const cut = () =>
  new ProviderError('unavailable', "The provider's list is cut short: a page or a part of it is missing");

/**
 * All entries of a list that comes in pages, each once by its id: pages shift when something is added meanwhile. When
 * something is taken away, one may be missed; so a list whose announced length changes is read again.
 * @param perPage entries that were asked for: a vendor that says neither `total` nor `next` has a next page after a
 * full one
 * @throws ProviderError `unavailable` when a page is missing, the list is shorter than announced, or keeps changing
 */
export async function allPages<T>(
  idOf: (entry: T) => string | number,
  read: (at: PageRequest) => Promise<Page<T>>,
  perPage = Number.POSITIVE_INFINITY,
): Promise<T[]> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const all = await once(idOf, read, perPage);
    if (all) return all;
  }
  throw new ProviderError('unavailable', "The provider's list kept changing while it was read; try again", false);
}

async function once<T>(
  idOf: (entry: T) => string | number,
  read: (at: PageRequest) => Promise<Page<T>>,
  perPage: number,
): Promise<T[] | null> {
  const all = new Map<string | number, T>();
  const seen = new Set<string | number>();
  const at: PageRequest = { page: 1, offset: 0, next: null };
  let announced: number | undefined;
  for (; ; at.page++) {
    const { entries, total, count, next } = await read({ ...at });
    if (!Array.isArray(entries) || (count !== undefined && count !== entries.length)) throw cut();
    if (total !== undefined && !Number.isInteger(total)) throw cut();
    if (at.page > 1 && total !== announced) return null;
    announced = total;
    const known = all.size;
    for (const entry of entries) all.set(idOf(entry), entry);
    at.offset += entries.length;
    const complete = total === undefined || all.size >= total;
    const last = next !== undefined ? next === null : total !== undefined ? complete : entries.length < perPage;
    if (last && !complete) throw cut();
    if (last) return [...all.values()];
    // a vendor that answers the same page again and again would be asked for ever
    if (all.size === known || next === '' || (next && seen.has(next))) throw cut();
    if (next) seen.add(next);
    at.next = next ?? null;
  }
}

/** entries that are read at once: they wait for their turn no longer than one call may */
const AT_ONCE = 6;

/**
 * The entries of a list that the vendor gives as ids, each of which is a call.
 * @throws ProviderError `unavailable` when it is no list of ids, or one of them is gone when its entry is read
 */
export async function eachOf<I extends string | number, T>(
  ids: readonly I[] | undefined,
  read: (id: I) => Promise<T>,
): Promise<T[]> {
  if (!Array.isArray(ids) || !ids.every((id) => typeof id === 'string' || Number.isSafeInteger(id))) throw cut();
  const found: T[] = [];
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    const some = ids.slice(at, at + AT_ONCE).map((id: I) => read(id));
    const entries = await Promise.all(some).catch((error: unknown) => {
      // what went after it was listed says nothing of the list
      throw error instanceof ProviderError && error.kind === 'not_found' ? cut() : error;
    });
    found.push(...entries);
  }
  return found;
}

/** The address of the next page in a `Link` header (RFC 8288); null after the last. */
export function nextLink(header: string | string[] | undefined): string | null {
  for (const link of [header ?? []]
    .flat()
    .join(',')
    .split(/,(?=\s*<)/)) {
    const match = /^\s*<([^>]*)>(.*)$/.exec(link);
    if (match && /;\s*rel\s*=\s*"?(?:[^";]*\s)?next(?:\s[^";]*)?"?\s*(?:;|$)/i.test(match[2] ?? ''))
      return match[1] ?? null;
  }
  return null;
}

/**
 * All entries of a list with an `offset` of which nobody says what it counts: entries, or pages from 0 or 1. When the
 * first page is full, the answer to 1 tells by where its first entry stands in it.
 * @param read the page at an offset; without one, the first
 * @throws ProviderError `unavailable` as `allPages`
 */
export function offsetPages<T>(
  idOf: (entry: T) => string,
  read: (offset?: number) => Promise<readonly T[]>,
  perPage: number,
): Promise<T[]> {
  let first: readonly T[] = [];
  let offsetOf: ((at: PageRequest) => number) | null = null;
  return allPages(idOf, async (at) => {
    if (at.page === 1) first = await read();
    if (at.page > 1 && !offsetOf) {
      const [probe] = await read(1);
      const place = probe === undefined ? -1 : first.findIndex((entry) => idOf(entry) === idOf(probe));
      if (place > 1) throw cut();
      offsetOf = place === 1 ? ({ offset }) => offset : ({ page }) => page + place;
    }
    const entries = offsetOf ? await read(offsetOf(at)) : first;
    return { entries, next: entries.length < perPage ? null : at.page + 1 };
  });
}
