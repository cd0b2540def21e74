import { errors } from './errors.js';
import { type PageQuery, pageOf } from './paging.dto.js';

/** What the query of a short list may name. */
interface ShortList<T> {
  /** what `sort` may name; the first is the order without it where `fallback` is left out */
  sorts: Record<string, (row: T) => string | number | boolean | null>;
  /** what `keyword` is looked for in; left out: the list has no names */
  search?: (row: T) => readonly (string | null)[];
}

/**
 * The page that a query asks for of a list that is in memory, since it is bounded: without `sort` in its own order.
 * Texts are sorted by their characters, any case; what is equal stays in the order of the list, and nothing comes first.
 * @throws AppError 400001 for an unknown `sort`, and for a `keyword` where there are no names
 */
export function pageOfShort<T>(
  rows: readonly T[],
  query: PageQuery,
  { sorts, search }: ShortList<T>,
): { total: number; list: T[] } {
  const { sort, keyword } = query;
  const name = sort?.replace(/^-/, '') ?? '';
  const values = Object.keys(sorts);
  const key = Object.hasOwn(sorts, name) ? sorts[name] : undefined;
  if (sort !== undefined && !key)
    throw errors.field('sort', `must be one of ${values.join(', ')}`, 'choice', { values });
  const word = keyword?.toLowerCase();
  const found = word && search ? rows.filter((row) => search(row).some((t) => t?.toLowerCase().includes(word))) : rows;
  const sign = sort?.startsWith('-') ? -1 : 1;
  const sorted = key ? found.toSorted((a, b) => sign * compare(key(a), key(b))) : [...found];
  const page = pageOf(query);
  const list = page ? sorted.slice((page.page - 1) * page.limit, page.page * page.limit) : sorted;
  return { total: found.length, list };
}

type Value = string | number | boolean | null;

function compare(one: Value, other: Value): number {
  const [a, b] = [one, other].map((v) => (typeof v === 'string' ? v.toLowerCase() : (v ?? ''))) as [string, string];
  return a < b ? -1 : a > b ? 1 : 0;
}
