import type { Response } from 'express';
import { errors } from './errors.js';
import { type PageQuery, pageHeaders, pageOf } from './paging.dto.js';
import { say } from './words/field-text.js';

/** What the query of a short list may name. */
interface ShortList<T> {
  /** what `sort` may name */
  sorts: Record<string, (row: T) => string | number | boolean | null>;
  /** what `keyword` is looked for in, any case */
  search: (row: T) => readonly (string | null)[];
}

/**
 * The page that a query asks for of a list that is in memory, since it is bounded: without `sort` in its own order.
 * Texts are sorted by their characters, any case; what is equal stays in the order of the list, nothing comes first.
 * @throws AppError 400001 for an unknown `sort`
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
    throw errors.field('sort', say('must be one of {values}', { values: values.join(', ') }), 'choice', { values });
  const word = keyword?.toLowerCase();
  const found = word ? rows.filter((row) => search(row).some((t) => t?.toLowerCase().includes(word))) : rows;
  const sign = sort?.startsWith('-') ? -1 : 1;
  const sorted = key ? found.toSorted((a, b) => sign * compare(key(a), key(b))) : [...found];
  const page = pageOf(query);
  const list = page ? sorted.slice((page.page - 1) * page.limit, page.page * page.limit) : sorted;
  return { total: found.length, list };
}

/** The same as an answer: `X-Total-Count` and `Link` say where the page stands. @throws AppError 400001 */
export function answerShort<T>(response: Response, rows: readonly T[], query: PageQuery, short: ShortList<T>): T[] {
  const { total, list } = pageOfShort(rows, query, short);
  pageHeaders(response, total, pageOf(query));
  return list;
}

type Value = string | number | boolean | null;

function compare(one: Value, other: Value): number {
  // nothing comes first
  if (one === null || other === null) return Number(other === null) - Number(one === null);
  const [a, b] = [one, other].map((v) => (typeof v === 'string' ? v.toLowerCase() : v)) as [string, string];
  return a < b ? -1 : a > b ? 1 : 0;
}
