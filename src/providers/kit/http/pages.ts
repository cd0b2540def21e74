import { isDeepStrictEqual } from 'node:util';
import { due, turn } from '../../../platform/common/turns.js';
import { ProviderError } from './errors.js';
import { asOneList, assertFew } from './list-size.js';

/**
 * One page of a list. What a vendor does not give is left out; but `total` or `next` is required, unless the end is
 * known by the length of the page.
 */
export interface Page<T> {
  entries: readonly T[] | undefined;
  /** of all pages */
  total?: number | undefined;
  /** of this page, where the vendor says it: one that holds another number is cut */
  count?: number | undefined;
  /** where the next page begins: a cursor, a link, a page; null after the last one */
  next?: string | number | null;
}

/** What to ask for: the page from 1, the entries so far, or what the page before gave as `next`. */
export interface PageRequest {
  page: number;
  offset: number;
  next: string | number | null;
}

/** Entries told apart by one of their fields. */
export const by =
  <K extends string>(field: K) =>
  <I extends string | number>(entry: Record<K, I>): I =>
    entry[field];
export const byId = by('id');

/** How often a list that changes while it is read is read from the start. */
const ATTEMPTS = 3;
/** A list with more pages is taken for one that never ends. */
const MOST_PAGES = 5000;
/** How many pages are read a second time. */
const READ_AGAIN = 5;

const cut = () =>
  new ProviderError('unavailable', "The provider's list is cut short: a page or a part of it is missing");

/**
 * All entries of a paged list, each once by its id, since pages shift when an entry is added meanwhile: one without an
 * id, or of another form, by all that it says, and two different ones with one id are both there. When one is
 * removed, another may be missed: a list whose announced length changes is read again. When one is removed and another
 * added, the length stays: so the pages before the last of a list by number or offset (a cursor does not shift) are
 * read a second time, the first five at most, and if they show an unknown entry the whole list is read again. That
 * costs nothing for one page, one call for two pages, and five for six or more; beyond the sixth page an entry may
 * still be missed until the next synchronisation.
 * @param perPage page size that was asked for: a vendor that gives neither `total` nor `next` has a next page after a
 * full one. Left out: an answer that gives neither counts as cut, since the end of the list is unknown
 * @throws ProviderError `unavailable` when a page is missing, the list is shorter or longer than announced, keeps
 * changing, or does not end
 */
export async function allPages<T>(
  idOf: (entry: T) => string | number,
  read: (at: PageRequest) => Promise<Page<T>>,
  perPage?: number,
): Promise<T[]> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const all = await asOneList(() => once(keyBy(idOf), read, perPage, attempt === ATTEMPTS));
    if (all) return all;
  }
  throw new ProviderError('unavailable', "The provider's list kept changing while it was read; try again", false);
}

/** What an entry is known by: all that it says where it has no id. */
const keyBy =
  <T>(idOf: (entry: T) => string | number | undefined | null) =>
  (entry: T): string | number => {
    try {
      return idOf(entry) ?? JSON.stringify(entry);
    } catch {
      return JSON.stringify(entry);
    }
  };

/** @param last whether entries are taken as they are that were others on an earlier page */
async function once<T>(
  idOf: (entry: T) => string | number,
  read: (at: PageRequest) => Promise<Page<T>>,
  perPage: number | undefined,
  last: boolean,
): Promise<T[] | null> {
  const all = new Map<string | number, T>();
  const seen = new Set<string | number>();
  const at: PageRequest = { page: 1, offset: 0, next: null };
  const numbered: PageRequest[] = [];
  let first: Page<T> | undefined;
  let repeated = 0;
  for (; ; at.page++) {
    const page = await read({ ...at });
    const entries = entriesOf(page, perPage);
    const { total, next } = page;
    first ??= page;
    const added = await addAll(all, entries, idOf, last);
    assertFew(all.size);
    if (total !== first.total || !added || announcesLess(page, first, all.size, last)) return null;
    repeated += added.repeated;
    const { offset } = at;
    at.offset += entries.length;
    if (isLast(page, all.size + repeated, perPage))
      return (await missed(numbered, all, idOf, read)) ? null : [...all.values()];
    assertEnds(at.page, next, seen);
    if (![at.next, next].some((one) => typeof one === 'string')) numbered.push({ ...at, offset });
    if (!added.fresh && !isGap(page)) return null;
    at.next = next ?? null;
  }
}

/** The entries of a page. @throws ProviderError when it is cut, or does not tell where the list ends */
function entriesOf<T>({ entries, total, count, next }: Page<T>, perPage: number | undefined): readonly T[] {
  if (!Array.isArray(entries) || (count !== undefined && count !== entries.length)) throw cut();
  if (total !== undefined && !Number.isInteger(total)) throw cut();
  if (total === undefined && next === undefined && perPage === undefined) throw cut();
  return entries;
}

/**
 * Whether fewer entries are announced than there are, where that alone would say that the list ends: a page that is
 * shorter than the first one says it, too.
 * @throws ProviderError when it is so each time
 */
function announcesLess<T>({ entries, total, next }: Page<T>, first: Page<T>, known: number, last: boolean): boolean {
  const isShorter = (entries?.length ?? 0) < (first.entries?.length ?? 0);
  if (total === undefined || next !== undefined || known <= total || isShorter) return false;
  if (last) throw new ProviderError('unavailable', `The provider announces ${total} entries and lists more`, false);
  return true;
}

/** A page without entries that names the next one; another without new ones was pushed back by what was added. */
const isGap = ({ entries, next }: Page<unknown>): boolean => entries?.length === 0 && Boolean(next);

/** @returns how many are new, and how many the page repeats itself; null where one of an earlier page is another now */
async function addAll<T>(
  all: Map<string | number, T>,
  entries: readonly T[],
  idOf: (entry: T) => string | number,
  last: boolean,
): Promise<{ fresh: number; repeated: number } | null> {
  const known = all.size;
  const here = new Set<string | number>();
  for (const entry of entries) {
    if (due()) await turn();
    const id = idOf(entry);
    const isOther = all.has(id) && !isDeepStrictEqual(all.get(id), entry);
    if (isOther && !here.has(id) && !last) return null;
    const key = isOther ? JSON.stringify(entry) : id;
    here.add(key);
    all.set(key, entry);
  }
  return { fresh: all.size - known, repeated: entries.length - here.size };
}

/** Whether a page ends the list. @throws ProviderError when the list is shorter than announced */
function isLast<T>({ entries, total, next }: Page<T>, known: number, perPage = 0): boolean {
  const complete = total === undefined || known >= total;
  const byLength = total !== undefined ? complete : (entries?.length ?? 0) < perPage;
  const last = next !== undefined ? next === null : byLength;
  if (last && !complete) throw cut();
  return last;
}

/** @param seen what earlier pages gave as `next` @throws ProviderError for a list that goes on for ever */
function assertEnds(pages: number, next: PageRequest['next'] | undefined, seen: Set<string | number>): void {
  if (pages >= MOST_PAGES) {
    throw new ProviderError('unavailable', `The provider's list does not end: it has more than ${MOST_PAGES} pages`);
  }
  // a vendor that answers the same page again and again would be asked for ever
  if (next === '' || (next && seen.has(next))) throw cut();
  if (next) seen.add(next);
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
 * The entries of a list that the vendor gives as ids, each of which is a call; what is no id stands for its entry.
 * @throws ProviderError `unavailable` when it is no list, or the entry of an id is gone, or empty, when it is read
 */
export async function eachOf<I extends string | number, T>(
  ids: readonly I[] | undefined,
  read: (id: I) => Promise<T>,
): Promise<T[]> {
  if (!Array.isArray(ids)) throw cut();
  const entryOf = (id: unknown) =>
    typeof id === 'string' || Number.isSafeInteger(id) ? read(id as I).then(whole) : Promise.resolve(id as T);
  const whole = (entry: T): T => {
    if (!Object.keys(entry ?? {}).length) throw cut();
    return entry;
  };
  const found: T[] = [];
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    const some = ids.slice(at, at + AT_ONCE).map(entryOf);
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
  const keyOf = keyBy(idOf);
  let first: readonly T[] = [];
  let offsetOf: ((at: PageRequest) => number) | null = null;
  return allPages(keyOf, async (at) => {
    if (at.page === 1) first = await read();
    if (at.page > 1) offsetOf ??= offsetFrom(keyOf, first, await read(1));
    const entries = offsetOf ? await read(offsetOf(at)) : first;
    return { entries, next: entries.length < perPage ? null : at.page + 1 };
  });
}

/** What an offset counts, by the first page and the page at offset 1. @throws ProviderError when these tell nothing */
function offsetFrom<T>(
  idOf: (entry: T) => string | number,
  first: readonly T[],
  [probe]: readonly T[],
): (at: PageRequest) => number {
  const place = probe === undefined ? -1 : first.findIndex((entry) => idOf(entry) === idOf(probe));
  if (place > 1) throw cut();
  return place === 1 ? ({ offset }) => offset : ({ page }) => page + place;
}
