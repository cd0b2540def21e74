import { errors } from '../common/errors.js';
import { contains, orderBy, type PageQuery, pageOf, pageSql } from '../common/paging.dto.js';
import { say } from '../common/words/field-text.js';
import type { Db, SqlValue } from './db.js';

/** What a list is made of. */
export interface ListSql {
  columns: string;
  /** values of `columns`, where these cost much: they are read of the page alone, and `from` has no values */
  ofColumns?: readonly SqlValue[];
  from: string;
  where: string;
  /** of `from` and `where` */
  values: readonly SqlValue[];
  /** what `sort` may name, and the column behind it */
  sorts: Record<string, string>;
  fallback: string;
  /** breaks ties */
  id: string;
  /** columns in lower case that `keyword` is looked for in */
  search: readonly string[];
}

/** @param sorts what `sort` may name */
export function unknownSort(sorts: object) {
  const values = Object.keys(sorts);
  return errors.field('sort', say('must be one of {values}', { values: values.join(', ') }), 'choice', { values });
}

/**
 * The page of a list that a query asks for, and how many entries match.
 * @throws AppError 400001 for an unknown `sort`
 */
export async function listRows<T>(db: Db, query: PageQuery, sql: ListSql): Promise<{ total: number; list: T[] }> {
  const order = orderBy(query.sort, sql.sorts, sql.fallback, sql.id);
  if (!order) throw unknownSort(sql.sorts);
  const words = query.keyword ? sql.search : [];
  const like = words.map((column) => `${column} LIKE ? ESCAPE '!'`).join(' OR ');
  const from = `${sql.from} WHERE ${sql.where}${like && ` AND (${like})`}`;
  const values = [...sql.values, ...words.map(() => contains(query.keyword as string))];
  const asked = pageOf(query);
  const [end, cut] = pageSql(asked);
  const first = sql.ofColumns ?? [];
  const rows = `${from} ORDER BY ${order}${end}`;
  const ids = `(SELECT ${sql.id} AS found FROM ${rows}) page`;
  const page = sql.ofColumns ? `${ids} JOIN ${sql.from} ON ${sql.id} = page.found ORDER BY ${order}` : rows;
  const list = await db.rows<T>(`SELECT ${sql.columns} FROM ${page}`, [...first, ...values, ...cut]);
  if (!asked) return { total: list.length, list };
  const count = await db.row<{ n: number }>(`SELECT COUNT(*) AS n FROM ${from}`, values);
  return { total: Number(count?.n), list };
}

/** A column of `countedRows`: how many rows there are beyond the LIMIT, too. */
export const TOTAL = 'COUNT(*) OVER () AS total';

/** The first rows of a list, and how many it has in all. */
export interface Counted<T> {
  rows: T[];
  total: number;
}

/** The rows of a statement that selects `TOTAL` and begins with its first row. */
export async function countedRows<T>(db: Db, sql: string, values: readonly SqlValue[]): Promise<Counted<T>> {
  const rows = await db.rows<T & { total: number | string }>(sql, [...values]);
  return { rows, total: Number(rows[0]?.total ?? 0) };
}
