import { randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import mysql, { type RowDataPacket } from 'mysql2/promise';
import pg from 'pg';
import { parseDatabaseUrl } from '../../src/platform/config/config.js';
import { AppDataSource } from '../../src/platform/database/app-data-source.js';

export type Kind = 'sqlite' | 'postgresql' | 'mysql';

/** Results of `global-setup.cjs`: where the database servers are, and why their suites are skipped. */
const {
  TEST_POSTGRES_URL,
  TEST_MYSQL_URL,
  TEST_NO_POSTGRES,
  TEST_NO_MYSQL,
  TEST_DATABASES,
  TEST_SCHEMAS,
  TEST_POSTGRES_THROUGH,
  JEST_WORKER_ID,
} = process.env as Record<string, string>;
const ABSENT: Record<Kind, string | undefined> = {
  sqlite: undefined,
  postgresql: TEST_NO_POSTGRES,
  mysql: TEST_NO_MYSQL,
};

const ALL: readonly Kind[] = ['sqlite', 'postgresql', 'mysql'];

export type ServerKind = Exclude<Kind, 'sqlite'>;

/** A database on a server: its URL for `DATABASE_URL`, and how to drop it. */
export interface Database {
  url: string;
  name: string;
  drop(): Promise<void>;
}

/** Runs one statement as the server's administrator, in this database or in none. @returns its rows */
export async function onServer(kind: ServerKind, sql: string, database?: string): Promise<Record<string, string>[]> {
  if (kind === 'postgresql') {
    const client = new pg.Client({ connectionString: TEST_POSTGRES_URL });
    await client.connect();
    return client
      .query(sql)
      .then(({ rows }) => rows)
      .finally(() => client.end());
  }
  const uri = database ? urlOf(kind, database) : (TEST_MYSQL_URL as string);
  const client = await mysql.createConnection({ uri, multipleStatements: true, dateStrings: true });
  return client
    .query(sql)
    .then(([rows]) => rows as Record<string, string>[])
    .finally(() => client.end());
}

function urlOf(kind: ServerKind, name: string): string {
  const url = new URL(kind === 'postgresql' ? (TEST_POSTGRES_URL as string) : (TEST_MYSQL_URL as string));
  url.pathname = `/${name}`;
  return url.href;
}

/** The address that the service is given: that of a pooler in front of the server, where there is one. */
function addressOf(kind: ServerKind, name: string): string {
  const url = new URL(urlOf(kind, name));
  if (kind === 'postgresql' && TEST_POSTGRES_THROUGH) url.host = TEST_POSTGRES_THROUGH;
  return url.href;
}

async function createDatabase(kind: ServerKind, options = ''): Promise<Database> {
  const name = `zoneward_${randomBytes(6).toString('hex')}`;
  await onServer(kind, `CREATE DATABASE ${name} ${options}`);
  // commits survive a crash of the service; a crash of the machine is not tested
  if (kind === 'postgresql') await onServer(kind, `ALTER DATABASE ${name} SET synchronous_commit = off`);
  const drop = () => onServer(kind, `DROP DATABASE IF EXISTS ${name}${kind === 'postgresql' ? ' WITH (FORCE)' : ''}`);
  return { url: addressOf(kind, name), name, drop: async () => void (await drop()) };
}

/** An empty database on a server. */
export const freshDatabase = (kind: ServerKind): Promise<Database> => createDatabase(kind);

async function migrate(url: string, dataDir = ''): Promise<void> {
  const source = new AppDataSource([]);
  await source.open(parseDatabaseUrl(url, dataDir));
  // suites exceed the default limits, except those that test them
  const values = { rate_limits: { user: 0, token: 0 } };
  const row = JSON.stringify({ values, super: values });
  await source.query(`INSERT INTO settings (name, content) VALUES ('security', '${row}')`);
  await source.destroy();
}

/** A dump of a MySQL database as statements. */
async function statementsOf({ name }: Pick<Database, 'name'>): Promise<string> {
  const rows = async (sql: string) => (await onServer('mysql', sql, name)) as RowDataPacket[];
  const statements = ['SET foreign_key_checks = 0'];
  for (const row of await rows('SHOW TABLES')) {
    const table = Object.values(row)[0] as string;
    const [made] = await rows(`SHOW CREATE TABLE ${table}`);
    statements.push(made?.['Create Table']);
    for (const content of await rows(`SELECT * FROM ${table}`))
      statements.push(mysql.format('INSERT INTO ?? VALUES (?)', [table, Object.values(content)]));
  }
  return statements.join(';\n');
}

/**
 * The migrated schema, created once per worker, since that takes seconds on servers: a file of SQLite, the name of a
 * template of PostgreSQL (dropped by `global-teardown.cjs`), or the statements of MySQL.
 * @returns the file that has it
 */
async function schema(kind: Kind): Promise<string> {
  const file = join(TEST_SCHEMAS as string, `${kind}-${JEST_WORKER_ID}`);
  if (existsSync(file)) return file;
  if (kind === 'sqlite') {
    await migrate(`sqlite:new-${JEST_WORKER_ID}.db`, TEST_SCHEMAS as string);
    renameSync(join(TEST_SCHEMAS as string, `new-${JEST_WORKER_ID}.db`), file);
    return file;
  }
  const database = await createDatabase(kind);
  // a template must have no connections, and a pooler keeps them
  await migrate(urlOf(kind, database.name));
  writeFileSync(file, kind === 'mysql' ? await statementsOf(database) : database.name);
  if (kind === 'mysql') await database.drop();
  return file;
}

/** A database on a server with the schema of the service, empty but for disabled user rate limits. */
export async function migratedDatabase(kind: ServerKind): Promise<Database> {
  const text = readFileSync(await schema(kind), 'utf8');
  if (kind === 'postgresql') return createDatabase(kind, `TEMPLATE ${text}`);
  const database = await createDatabase(kind);
  await onServer(kind, text, database.name);
  return database;
}

/** A copy of a database without open connections. */
export async function copyOf(kind: ServerKind, url: string): Promise<Database> {
  const name = new URL(url).pathname.slice(1);
  if (kind === 'postgresql') return createDatabase(kind, `TEMPLATE ${name}`);
  const database = await createDatabase(kind);
  await onServer(kind, await statementsOf({ name }), database.name);
  return database;
}

/** The same as a file of SQLite. */
export const migratedFile = async (path: string): Promise<void> => copyFileSync(await schema('sqlite'), path);

/** A database that a suite runs on, or the reason why it cannot. */
interface Target<K extends Kind> {
  kind: K;
  skip: string | undefined;
}

/** `all` or `one` by the rule in CONTRIBUTING.md, or a fixed database. */
type Choice = 'all' | 'one' | Kind;

/**
 * The databases that a suite runs on, of those in TEST_DATABASES; `one` is the first of them, which is SQLite in the
 * gate: `for (const { kind, skip } of databases('all')) describeUnless(skip)(…)`.
 */
export function databases(choice: 'all' | 'one'): Target<Kind>[];
export function databases<K extends Kind>(...kinds: K[]): Target<K>[];
export function databases(...choices: Choice[]): Target<Kind>[] {
  const named = ALL.filter((kind) => choices.includes(kind));
  const kinds = named.length ? named : ALL;
  const wanted = kinds.filter((kind) => TEST_DATABASES?.split(',').includes(kind));
  // a file without any test would fail
  if (!wanted.length) return kinds.map((kind) => ({ kind, skip: `TEST_DATABASES=${TEST_DATABASES}` }));
  const chosen = choices.includes('one') ? wanted.slice(0, 1) : wanted;
  return chosen.map((kind) => ({ kind, skip: ABSENT[kind] && `${kind}: ${ABSENT[kind]}` }));
}
