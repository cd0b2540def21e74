import type { Db, SqlValue } from '../../src/platform/database/db.js';
import type { Kind } from './databases.js';

/** A sort of more rows, as the planner of PostgreSQL expects, is one of a table. */
const MANY_ROWS = 500;

type IsLarge = (table: string) => boolean;
type Node = { [key: string]: unknown };

/**
 * What the plan of a statement does with all rows of a large table, each in a few words: reading them without an index,
 * or sorting them. Reading in the order of an index, or of the ids, is neither where a LIMIT ends it.
 */
export async function faultsOf(
  db: Db,
  kind: Kind,
  sql: string,
  values: readonly SqlValue[],
  isLarge: IsLarge,
): Promise<string[]> {
  if (kind === 'sqlite') return ofSqlite(await db.rows(`EXPLAIN QUERY PLAN ${sql}`, values), sql, isLarge);
  if (kind === 'postgresql') {
    const [row] = await db.rows<{ 'QUERY PLAN': [{ Plan: Node }] }>(`EXPLAIN (FORMAT JSON) ${sql}`, values);
    return ofPostgres(row?.['QUERY PLAN'][0].Plan as Node, isLarge, false);
  }
  const [row] = await db.rows<{ EXPLAIN: string }>(`EXPLAIN FORMAT=JSON ${sql}`, values);
  return ofMysql(JSON.parse(row?.EXPLAIN as string), tablesOf(sql), isLarge);
}

/** The tables by the names that a statement gives them. */
function tablesOf(sql: string): Map<string, string> {
  const named = /\b(?:FROM|JOIN|UPDATE)\s+["`]?(\w+)["`]?(?:\s+(?:AS\s+)?["`]?(\w+)["`]?)?/gi;
  const tables = new Map<string, string>();
  for (const [, table = '', alias = table] of sql.matchAll(named)) {
    tables.set(table, table);
    tables.set(alias, table);
  }
  return tables;
}

interface Line {
  parent: number;
  detail: string;
}

function ofSqlite(lines: Line[], sql: string, isLarge: IsLarge): string[] {
  const tables = tablesOf(sql);
  const isCut = /\bLIMIT\b/i.test(sql);
  // a subquery may be called as a table within it
  const derived = lines.flatMap(({ detail }) => /^(?:CO-ROUTINE|MATERIALIZE) (\w+)/.exec(detail)?.[1] ?? []);
  return lines.flatMap(({ parent, detail }) => {
    const [, name = '', index] = /^SCAN (\w+)( USING)?/.exec(detail) ?? [];
    const table = tables.get(name) ?? '';
    if (!isLarge(table)) return [];
    const isSorted = lines.some((one) => one.parent === parent && one.detail.endsWith('B-TREE FOR ORDER BY'));
    if (!index && derived.includes(name)) {
      derived.splice(derived.indexOf(name), 1);
      return [];
    }
    if (isSorted) return [`sorts ${table}`];
    return index || isCut ? [] : [`scans ${table}`];
  });
}

function ofPostgres(node: Node, isLarge: IsLarge, isCut: boolean): string[] {
  const type = String(node['Node Type']);
  const table = String(node['Relation Name'] ?? '');
  const found: string[] = [];
  if (type === 'Seq Scan' && isLarge(table) && !isCut) found.push(`scans ${table}`);
  if (type === 'Sort' && Number(node['Plan Rows']) > MANY_ROWS) found.push('sorts');
  const cut = type === 'Limit' || (isCut && !/Sort|Aggregate|Hash/.test(type));
  return [...found, ...((node.Plans ?? []) as Node[]).flatMap((child) => ofPostgres(child, isLarge, cut))];
}

function ofMysql(plan: unknown, tables: Map<string, string>, isLarge: IsLarge): string[] {
  if (typeof plan !== 'object' || plan === null) return [];
  const { access_type, table_name } = plan as Node;
  const table = tables.get(String(table_name)) ?? '';
  const found = access_type === 'ALL' && isLarge(table) ? [`scans ${table}`] : [];
  return [...found, ...Object.values(plan).flatMap((one) => ofMysql(one, tables, isLarge))];
}
