import { ProviderError } from './errors.js';

/**
 * One page of a list. What a vendor does not give is left out; but `total` or `next` is required, unless the end is
 * known by the length of the page.
 */
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

/** How often a list that changes while it is read is read from the start. */
const ATTEMPTS = 3;
/** A list with more pages is taken for one that never ends. */
const MOST_PAGES = 5000;
/** How many pages are read a second time. */
const READ_AGAIN = 5;

const cut = () =>
  new ProviderError('unavailable', "The provider's list is cut short: a page or a part of it is missing");

/**
 * All entries of a paged list, each once by its id, since pages shift when an entry is added meanwhile. When one is
 * removed, another may be missed: a list whose announced length changes is read again. When one is removed and another
 * added, the length stays: so the pages before the last of a list by number or offset (a cursor does not shift) are
 * read a second time, the first five at most, and if they show an unknown entry the whole list is read again. That
 * costs nothing for one page, one call for two pages, and five for six or more; beyond the sixth page an entry may
 * still be missed until the next synchronisation.
 * @param perPage page size that was asked for: a vendor that gives neither `total` nor `next` has a next page after a
 * full one. Left out: an answer that gives neither counts as cut, since the end of the list is unknown
 * @throws ProviderError `unavailable` when a page is missing, the list is shorter than announced, keeps changing, or
 * does not end
 */
export async function allPages<T>(
  idOf: (entry: T) => string | number,
  read: (at: PageRequest) => Promise<Page<T>>,
  perPage?: number,
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
  perPage: number | undefined,
): Promise<T[] | null> {
  const all = new Map<string | number, T>();
  const seen = new Set<string | number>();
  const at: PageRequest = { page: 1, offset: 0, next: null };
  const numbered: PageRequest[] = [];
  let announced: number | undefined;
  for (; ; at.page++) {
    const { entries, total, count, next } = await read({ ...at });
    if (!Array.isArray(entries) || (count !== undefined && count !== entries.length)) throw cut();
    if (total !== undefined && !Number.isInteger(total)) throw cut();
    if (total === undefined && next === undefined && perPage === undefined) throw cut();
    if (at.page > 1 && total !== announced) return null;
    announced = total;
    const known = all.size;
    for (const entry of entries) {
      // two without an id would be one
      if (idOf(entry) === undefined || idOf(entry) === null) throw cut();
      all.set(idOf(entry), entry);
    }
    at.offset += entries.length;
    const complete = total === undefined || all.size >= total;
    const last = next !== undefined ? next === null : total !== undefined ? complete : entries.length < (perPage ?? 0);
    if (last && !complete) throw cut();
    if (last) return (await missed(numbered, all, idOf, read)) ? null : [...all.values()];
    if (at.page >= MOST_PAGES) {
      throw new ProviderError('unavailable', `The provider's list does not end: it has more than ${MOST_PAGES} pages`);
    }
    if (typeof at.next !== 'string' && typeof next !== 'string')
      numbered.push({ ...at, offset: at.offset - entries.length });
    // a vendor that answers the same page again and again would be asked for ever
    if (next === '' || (next && seen.has(next))) throw cut();
    // pushed back by what was added meanwhile
    if (all.size === known) return null;
    if (next) seen.add(next);
    at.next = next ?? null;
  }
}

/** Whether there is an entry, on one of the first pages as they are now, that was not read: one moved to there. */
async function missed<T>(
  pages: readonly PageRequest[],
  all: ReadonlyMap<string | number, T>,
  idOf: (entry: T) => string | number,
  read: (at: PageRequest) => Promise<Page<T>>,
): Promise<boolean> {
  for (const at of pages.slice(0, READ_AGAIN)) {
    const { entries } = await read({ ...at });
    if (!Array.isArray(entries)) throw cut();
    if (entries.some((entry) => !all.has(idOf(entry)))) return true;
  }
  return false;
}

/**
 * A page of a vendor that says how many entries all pages have. Where these are none, the list may be null, or left out
 * (as many answers have it); else what is missing is cut.
 */
export const counted = <T>(entries: readonly T[] | null | undefined, total: number | string | undefined): Page<T> => ({
  entries: entries ?? (numberOf(total) === 0 ? [] : undefined),
  total: numberOf(total),
});

const numberOf = (total: unknown): number =>
  typeof total === 'number' || (typeof total === 'string' && /^\d+$/.test(total)) ? Number(total) : Number.NaN;

/** entries that are read at once: so few that none waits for the rate limiter longer than one call may */
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
      // an entry that was deleted after it was listed does not make the list `not_found`
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
