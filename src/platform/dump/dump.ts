import { createHash } from 'node:crypto';
import type { AppDataSource } from '../database/app-data-source.js';
import { type DumpHeader, type DumpTrailer, FORMAT, FORMAT_VERSION, toCell } from './format.js';
import { openSnapshot, type Snapshot } from './snapshot.js';
import { type KeptTable, keptTables } from './tables.js';

/** Rows read at once, which bounds the memory used. */
const PAGE = 250;
/** Characters per yielded chunk. */
const PIECE = 64 * 1024;

const KINDS = { 'better-sqlite3': 'sqlite', postgres: 'postgresql', mysql: 'mysql', mariadb: 'mysql' } as const;
export type DatabaseKind = DumpHeader['database'];
export const kindOfSource = ({ options }: AppDataSource): DatabaseKind => KINDS[options.type as keyof typeof KINDS];

/**
 * The text of a dump in chunks, a consistent snapshot from when the first one is read.
 * @param told receives the trailer at the end
 */
export async function* dump(
  source: AppDataSource,
  about: Pick<DumpHeader, 'version' | 'created_at' | 'keys'>,
  told: (trailer: DumpTrailer) => void = () => undefined,
): AsyncGenerator<string> {
  const tables = keptTables(source.entityMetadatas);
  const hash = createHash('sha256');
  const snapshot = await openSnapshot(source);
  const rows: DumpTrailer['rows'] = {};
  const last_ids: DumpTrailer['last_ids'] = {};
  let piece = '';
  const add = (line: object) => {
    const text = `${JSON.stringify(line)}\n`;
    hash.update(text);
    piece += text;
  };
  try {
    const migrations = await snapshot.rows('SELECT name FROM migrations ORDER BY timestamp');
    const header: DumpHeader = {
      format: FORMAT,
      format_version: FORMAT_VERSION,
      ...about,
      database: kindOfSource(source),
      migrations: migrations.map(({ name }) => String(name)),
      tables: tables.map(({ name, columns }) => ({ name, columns })),
    };
    add(header);
    for (const table of tables) {
      add({ table: table.name });
      rows[table.name] = 0;
      for await (const page of pages(snapshot, table)) {
        for (const cells of page) {
          add(table.columns.map(({ name, kind }) => toCell(kind, cells[name])));
          if (piece.length < PIECE) continue;
          yield piece;
          piece = '';
        }
        rows[table.name] = (rows[table.name] ?? 0) + page.length;
        // PostgreSQL driver results stay reachable in a chain until a full garbage collection; with their rows that
        // would be 90 MiB
        page.length = 0;
      }
      if (table.numbered) last_ids[table.name] = await lastId(snapshot, source, table.name);
    }
    const trailer: DumpTrailer = { end: true, rows, last_ids, sha256: hash.digest('hex') };
    told(trailer);
    yield `${piece}${JSON.stringify(trailer)}\n`;
  } finally {
    await snapshot.close();
  }
}

/** All rows in order of the key, by keyset pagination; the caller may empty each page. */
async function* pages(snapshot: Snapshot, { name, columns, key }: KeptTable) {
  const all = `SELECT ${columns.map((column) => column.name).join(', ')} FROM ${name}`;
  const order = `ORDER BY ${key.join(', ')} LIMIT ${PAGE}`;
  // spelled out: not every database uses an index for (a, b) > (?, ?)
  const behind = key
    .map((column, i) => [...key.slice(0, i).map((before) => `${before} = ?`), `${column} > ?`].join(' AND '))
    .map((one) => `(${one})`)
    .join(' OR ');
  let page = await snapshot.rows(`${all} ${order}`);
  while (page.length) {
    const isLast = page.length < PAGE;
    const last = page.at(-1) as Record<string, unknown>;
    yield page;
    if (isLast) return;
    const values = key.flatMap((_, i) => key.slice(0, i + 1).map((column) => last[column]));
    page = await snapshot.rows(`${all} WHERE ${behind} ${order}`, values);
  }
}

/** The highest id that a table has assigned: ids of deleted rows appear in logs and must not be reused. */
async function lastId(snapshot: Snapshot, source: AppDataSource, table: string): Promise<number> {
  const given = {
    sqlite: `SELECT seq AS last FROM sqlite_sequence WHERE name = '${table}'`,
    postgresql: `SELECT last_value AS last FROM pg_sequences
      WHERE schemaname = current_schema() AND sequencename = '${table}_id_seq'`,
    // MySQL's catalogue tables may be a day old
    mysql: `SHOW CREATE TABLE ${table}`,
  }[kindOfSource(source)];
  const [row] = await snapshot.rows(given);
  const [, next] = /\bAUTO_INCREMENT=(\d+)/.exec(String(row?.['Create Table'])) ?? [];
  const [highest] = await snapshot.rows(`SELECT MAX(id) AS last FROM ${table}`);
  return Math.max(next ? Number(next) - 1 : Number(row?.last ?? 0), Number(highest?.last ?? 0));
}
