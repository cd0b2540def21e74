import { existsSync, renameSync, rmSync } from 'node:fs';
import type { QueryRunner } from 'typeorm';
import { now } from '../common/clock.js';
import type { DatabaseChoice } from '../config/config.js';
import { type AppDataSource, HALF_RESTORED, unknownMigrations } from '../database/app-data-source.js';
import { pausedByRestore } from '../database/installation.js';
import { sqlite } from '../database/sqlite-module.js';
import { endings } from '../schema/restored.js';
import { type DatabaseKind, kindOfSource } from './dump.js';
import {
  type Cell,
  DumpError,
  type DumpHeader,
  type DumpTable,
  type DumpTrailer,
  fromCell,
  readDump,
  verifyDump,
} from './format.js';

/** Maximum size of one INSERT: rows, values, and approximate characters. */
const ROWS = 200;
const VALUES = 10_000;
const CHARACTERS = 1_000_000;
/** ms in which a running service has started a job or checked whether it is paused. */
const AT_WORK_MS = 5000;

export interface Restored {
  header: DumpHeader;
  rows: number;
}

/**
 * Restores a dump into any database. The file is verified before anything is changed.
 * - PostgreSQL: one transaction.
 * - SQLite: a new file, which replaces the old one once complete.
 * - MariaDB, MySQL: the rows are one transaction; a marker prevents every start until the last step is done.
 * @param source not open
 * @param force overwrites existing data
 * @throws DumpError, and nothing was changed; the driver's error
 */
export async function restore(
  source: AppDataSource,
  choice: DatabaseChoice,
  file: string,
  force: boolean,
): Promise<Restored> {
  const dump = await verifyDump(file);
  const { header, trailer } = dump;
  const unknown = unknownMigrations(header.migrations);
  if (unknown.length)
    throw new DumpError(
      `${file} was written by version ${header.version}, whose schema this program does not know yet ` +
        `(${unknown.join(', ')}). Restore it with that version or a newer one; nothing was changed`,
    );
  const done = { header, rows: Object.values(trailer.rows).reduce((sum, count) => sum + count, 0) };
  if (choice.type === 'sqlite')
    await intoFile(source, choice.path, force, (runner) => fill(source, runner, file, dump));
  else
    await source.openAlone(choice, async (runner) => {
      await assertMayReplace(source, runner, force);
      await fill(source, runner, file, dump);
    });
  return done;
}

/** Fills a new file and moves it over the old one. */
async function intoFile(
  source: AppDataSource,
  path: string,
  force: boolean,
  work: (runner: QueryRunner) => Promise<void>,
): Promise<void> {
  const fresh = `${path}.restoring`;
  const remove = () => {
    for (const suffix of ['', '-wal', '-shm']) rmSync(fresh + suffix, { force: true });
  };
  if (existsSync(path)) {
    assertUnused(path);
    assertFileMayBeReplaced(source, path, force);
  }
  remove();
  try {
    await source.openAlone({ type: 'sqlite', path: fresh }, work);
    // a service may have been started meanwhile
    if (existsSync(path)) assertUnused(path);
    renameSync(fresh, path);
  } finally {
    remove();
  }
}

/**
 * Checks that no process has the file open. Checkpoints and removes its WAL, which would otherwise be applied to the
 * new file.
 * @throws DumpError
 */
function assertUnused(path: string): void {
  const { DatabaseSync } = sqlite();
  const db = new DatabaseSync(path);
  try {
    db.exec('PRAGMA busy_timeout = 1000');
    // no prepared statements here: they can keep a closed connection open for a while
    db.exec('PRAGMA journal_mode = DELETE');
  } catch (cause) {
    throw new DumpError(`${path} is in use; stop the service first. Nothing was changed`, { cause });
  } finally {
    db.close();
  }
}

/** Like `assertMayReplace`, without leaving a WAL behind. */
function assertFileMayBeReplaced(source: AppDataSource, path: string, force: boolean): void {
  const { DatabaseSync } = sqlite();
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    const there = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all() as { name: string }[];
    const tables = there.map(({ name }) => name);
    const held = HELD.filter((table) => tables.includes(table));
    judge(
      namesOf(source),
      tables,
      force || !held.some((table) => db.prepare(`SELECT 1 FROM ${table} LIMIT 1`).all().length),
    );
  } finally {
    db.close();
  }
}

/** @throws DumpError when data would be lost, or belongs to another program */
async function assertMayReplace(source: AppDataSource, runner: QueryRunner, force: boolean): Promise<void> {
  const names = namesOf(source);
  const tables: string[] = [];
  for (const name of [...names, 'migrations', HALF_RESTORED]) if (await runner.hasTable(name)) tables.push(name);
  if (tables.includes('jobs')) {
    // a running service starts jobs continuously
    const since = now(-AT_WORK_MS);
    const begun = await runner.query(`SELECT id FROM jobs WHERE started_at > '${since}' LIMIT 1`);
    const paused = tables.includes('installation')
      ? await runner.query(`SELECT one FROM installation WHERE seen_at > '${since}'`)
      : [];
    if (begun.length || paused.length)
      throw new DumpError('A service works on this database, or did a moment ago; stop it first. Nothing was changed');
  }
  let empty = !tables.includes(HALF_RESTORED);
  for (const table of HELD)
    if (tables.includes(table) && (await runner.query(`SELECT 1 FROM ${table} LIMIT 1`)).length) empty = false;
  judge(names, tables, force || empty);
}

const namesOf = (source: AppDataSource) => source.entityMetadatas.map(({ tableName }) => tableName);

/** Rows in these tables make a database worth keeping. */
const HELD = ['users', 'settings', 'dns_accounts'];

function judge(names: string[], tables: string[], may: boolean): void {
  const ours = names.filter((name) => tables.includes(name));
  if (ours.length && !tables.includes('migrations'))
    throw new DumpError(
      `The database has tables of another program (${ours.join(', ')}); take another one. Nothing was changed`,
    );
  if (!may)
    throw new DumpError(
      'The database is not empty. With --force all that it holds is lost, and the backup takes its place',
    );
}

/** Drops existing tables, creates the dump's schema, inserts its rows, and migrates to the current schema. */
async function fill(
  source: AppDataSource,
  runner: QueryRunner,
  file: string,
  { header, trailer }: { header: DumpHeader; trailer: DumpTrailer },
): Promise<void> {
  const { migrations, tables } = header;
  const kind = kindOfSource(source);
  const whole = kind === 'postgresql';
  if (whole) await runner.startTransaction();
  try {
    if (kind === 'mysql') await runner.query(`CREATE TABLE IF NOT EXISTS ${HALF_RESTORED} (id int PRIMARY KEY)`);
    await dropAll(source, runner, kind);
    await source.migrateWith(runner, () => undefined, migrations);
    if (!whole) await runner.startTransaction();
    // migrations insert rows, too
    for (const { name } of tables.toReversed()) await runner.query(`DELETE FROM ${name}`);
    await insertAll(runner, kind, file, tables);
    if (!whole) await runner.commitTransaction();
    for (const { name } of tables) await goOnBehind(runner, kind, name, trailer.last_ids[name]);
    await source.migrateWith(runner, () => undefined);
    for (const statement of endings(source.entityMetadatas)) await runner.query(statement);
    await runner.query(pausedByRestore(header));
    if (kind === 'mysql') await runner.query(`DROP TABLE ${HALF_RESTORED}`);
    // the file will be renamed, and its WAL would not
    if (kind === 'sqlite') await runner.query('PRAGMA journal_mode = DELETE');
    if (whole) await runner.commitTransaction();
  } catch (error) {
    if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => undefined);
    throw error;
  }
}

/** Drops the tables of an older schema, or of a failed restore. */
async function dropAll(source: AppDataSource, runner: QueryRunner, kind: DatabaseKind): Promise<void> {
  const exists = await runner.hasTable('migrations');
  if (!exists) return;
  // only an up-to-date schema has exactly the known tables
  await source.migrateWith(runner, () => undefined);
  const cascade = kind === 'postgresql' ? ' CASCADE' : '';
  if (kind === 'mysql') await runner.query('SET FOREIGN_KEY_CHECKS = 0');
  for (const { tableName } of source.entityMetadatas) await runner.query(`DROP TABLE IF EXISTS ${tableName}${cascade}`);
  if (kind === 'mysql') await runner.query('SET FOREIGN_KEY_CHECKS = 1');
  // last, so that a second attempt can find the remaining tables
  await runner.query('DROP TABLE migrations');
}

/** Converts booleans, which SQLite lacks. */
const bound = (kind: DatabaseKind, value: Cell | Buffer) =>
  kind === 'sqlite' && typeof value === 'boolean' ? Number(value) : value;

/** Characters of a row, about. */
const sizeOf = (row: Cell[]): number =>
  row.reduce<number>((sum, cell) => sum + (typeof cell === 'string' ? cell.length : 8), 0);

/** One statement for some rows of a table. @throws DumpError */
async function insert(
  runner: QueryRunner,
  kind: DatabaseKind,
  { name, columns }: DumpTable,
  batch: unknown[][],
): Promise<void> {
  let n = 0;
  const mark = () => (kind === 'postgresql' ? `$${++n}` : '?');
  const rows = batch.map(() => `(${columns.map(mark).join(', ')})`).join(', ');
  const names = columns.map((column) => column.name).join(', ');
  try {
    await runner.query(`INSERT INTO ${name} (${names}) VALUES ${rows}`, batch.flat());
  } catch (error) {
    throw new DumpError(`The database did not take rows of ${name}: ${(error as Error).message}`, { cause: error });
  }
}

async function insertAll(runner: QueryRunner, kind: DatabaseKind, file: string, tables: DumpTable[]): Promise<void> {
  let table: DumpTable | undefined;
  let batch: unknown[][] = [];
  let characters = 0;
  const flush = async () => {
    if (!table || !batch.length) return;
    await insert(runner, kind, table, batch);
    batch = [];
    characters = 0;
  };
  for await (const line of readDump(file)) {
    if (Array.isArray(line)) {
      const { columns } = table as DumpTable;
      batch.push(line.map((cell, i) => bound(kind, fromCell(columns[i]?.kind ?? 'text', cell))));
      characters += sizeOf(line);
      const full = batch.length >= ROWS || batch.length * columns.length >= VALUES || characters >= CHARACTERS;
      if (full) await flush();
    } else if ('table' in line) {
      await flush();
      table = tables.find(({ name }) => name === line.table);
    }
  }
  await flush();
}

/** Sets the id sequence, so that ids are not reused. */
async function goOnBehind(runner: QueryRunner, kind: DatabaseKind, table: string, last: number | undefined) {
  if (!last) return;
  if (kind === 'postgresql') await runner.query(`SELECT setval(pg_get_serial_sequence('${table}', 'id'), ${last})`);
  if (kind === 'mysql') await runner.query(`ALTER TABLE ${table} AUTO_INCREMENT = ${last + 1}`);
  if (kind !== 'sqlite') return;
  await runner.query(`DELETE FROM sqlite_sequence WHERE name = '${table}'`);
  await runner.query(`INSERT INTO sqlite_sequence (name, seq) VALUES ('${table}', ${last})`);
}
