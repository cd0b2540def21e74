import { randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect } from '@jest/globals';
import mysql, { type RowDataPacket } from 'mysql2/promise';
import pg from 'pg';
import { parseDatabaseUrl } from '../../src/config/config.js';
import { AppDataSource } from '../../src/database/app-data-source.js';

export type Kind = 'sqlite' | 'postgresql' | 'mysql';

/** What `global-setup.cjs` found out: where the servers are, and why their suites are left out. */
const {
  TEST_POSTGRES_URL,
  TEST_MYSQL_URL,
  TEST_NO_POSTGRES,
  TEST_NO_MYSQL,
  TEST_DATABASES,
  TEST_SCHEMAS,
  JEST_WORKER_ID,
} = process.env as Record<string, string>;
const ABSENT: Record<Kind, string | undefined> = {
  sqlite: undefined,
  postgresql: TEST_NO_POSTGRES,
  mysql: TEST_NO_MYSQL,
};

const ALL: Kind[] = ['sqlite', 'postgresql', 'mysql'];
const SERVERS: Kind[] = ['postgresql', 'mysql'];
const SQLITE: Kind[] = ['sqlite'];

/** Which suites run on which kind of database. A file that is not named here starts its service on SQLite. */
const SUITES: Record<string, Kind[]> = {
  // migrations, and what the drivers do
  'changes-migration': ALL,
  'confirmed-settings': ALL,
  'expiry-migration': ALL,
  'lists-migration': ALL,
  ownership: ALL,
  prepared: SERVERS,
  'record-cache': ALL,
  'record-created': ALL,
  schema: ALL,
  upgrade: ALL,
  // the setup flow tries each kind; a server can go away
  setup: ALL,
  outage: SERVERS,
  clocks: SERVERS,
  frozen: SERVERS,
  copies: ALL,
  'schema-grows': ALL,
  'full-disk': ALL,
  'read-only-database': SERVERS,
  'start-key': ALL,
  'start-schema': ALL,
  // SQL of lists, filters and searches: collations, dates, numbers and plans differ
  'accounts-sync': ALL,
  audit: ALL,
  'audit-export': ALL,
  'audit-links': ALL,
  'audit-rules': ALL,
  'audit-tampering': ALL,
  'audit-strangers': ALL,
  // replicas behind a proxy: what ends is the process
  drain: ['postgresql'],
  delegation: ['sqlite', 'mysql'],
  permissions: ALL,
  'rights-ended': ALL,
  'put-symmetry': ALL,
  'record-filters': ALL,
  'records-batch': ALL,
  'records-dns': ALL,
  'records-filters': ALL,
  'records-list': ALL,
  settings: ALL,
  'settings-confirmation': ALL,
  suspicious: ALL,
  teams: ALL,
  tunnels: ['sqlite', 'mysql'],
  'tunnels-crash': ['sqlite', 'postgresql'],
  'token-rule-limits': ALL,
  'token-rules': ALL,
  tokens: ALL,
  traces: ['sqlite'],
  users: ALL,
  // what is decided under locks, by several at once
  'hot-path': ALL,
  lock: ALL,
  leases: ALL,
  'lease-scopes': ALL,
  auth: ALL,
  lockout: ALL,
  mail: ALL,
  notifications: ALL,
  'passkeys-races': ALL,
  registration: ALL,
  jobs: ALL,
  'jobs-replicas': SERVERS,
  'revoke-all': ALL,
  sessions: ALL,
  'users-last': ALL,
  events: ALL,
  // dates, reminders that several processes would send, servers that they ask in turn
  expiry: ALL,
  certificates: ['sqlite', 'postgresql'],
  metrics: ALL,
  replicas: SERVERS,
  'account-pauses': ALL,
  // a backup of each goes into each
  backup: ALL,
  keys: ALL,
  'lost-key': ['sqlite', 'postgresql'],
  // each kind tells its size in its own way
  system: ALL,
  paused: ALL,
  'shared-zones': ALL,
  'replicas-follow': SERVERS,
  failover: ['sqlite', 'mysql'],
  'failover-mass': ['sqlite', 'postgresql'],
  'failover-replicas': ['postgresql'],
  // the same statements everywhere, and what may be left by a crash is a matter of having a server or not
  'admin-cli': ['sqlite', 'postgresql'],
  crash: ['sqlite', 'postgresql'],
  rounds: ALL,
  // what each driver says in its errors may come into the log
  secrets: ALL,
  // does not depend on the database: mails, sign-in elsewhere, passkeys and codes, what values of records survive
  oauth: SQLITE,
  'oauth-second-factor': SQLITE,
  passkeys: SQLITE,
  'password-reset': SQLITE,
  'second-factor': SQLITE,
  'records-sent-back': SQLITE,
};

export type ServerKind = Exclude<Kind, 'sqlite'>;

/** A database of a server kind: its URL for `DATABASE_URL`, and how to drop it. */
export interface Database {
  url: string;
  name: string;
  drop(): Promise<void>;
}

/** One statement as whoever runs the server, in this database or in none. @returns its rows */
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

async function createDatabase(kind: ServerKind, options = ''): Promise<Database> {
  const name = `zoneward_${randomBytes(6).toString('hex')}`;
  await onServer(kind, `CREATE DATABASE ${name} ${options}`);
  // what a service has committed survives its crash; that of the machine nobody tests
  if (kind === 'postgresql') await onServer(kind, `ALTER DATABASE ${name} SET synchronous_commit = off`);
  const drop = () => onServer(kind, `DROP DATABASE IF EXISTS ${name}${kind === 'postgresql' ? ' WITH (FORCE)' : ''}`);
  return { url: urlOf(kind, name), name, drop: async () => void (await drop()) };
}

/** An empty database of a server kind. */
export const freshDatabase = (kind: ServerKind): Promise<Database> => createDatabase(kind);

async function migrate(url: string, dataDir = ''): Promise<void> {
  const source = new AppDataSource([]);
  await source.open(parseDatabaseUrl(url, dataDir));
  // suites ask faster than anybody may, but for those that are about that
  const values = { rate_limits: { user: 0, token: 0 } };
  const row = JSON.stringify({ values, super: values });
  await source.query(`INSERT INTO settings (name, content) VALUES ('security', '${row}')`);
  await source.destroy();
}

/** All of a MySQL database as statements. */
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
 * The schema as the migrations make it from nothing, made once by each worker, for there it takes seconds: a file of
 * SQLite, the name of a template of PostgreSQL (which `global-teardown.cjs` drops), or the statements of MySQL.
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
  await migrate(database.url);
  writeFileSync(file, kind === 'mysql' ? await statementsOf(database) : database.name);
  if (kind === 'mysql') await database.drop();
  return file;
}

/** A database of a server kind with the schema of the service, and nothing in it but that users have no rates. */
export async function migratedDatabase(kind: ServerKind): Promise<Database> {
  const text = readFileSync(await schema(kind), 'utf8');
  if (kind === 'postgresql') return createDatabase(kind, `TEMPLATE ${text}`);
  const database = await createDatabase(kind);
  await onServer(kind, text, database.name);
  return database;
}

/** A copy of a database that nobody is connected to. */
export async function copyOf(kind: ServerKind, url: string): Promise<Database> {
  const name = new URL(url).pathname.slice(1);
  if (kind === 'postgresql') return createDatabase(kind, `TEMPLATE ${name}`);
  const database = await createDatabase(kind);
  await onServer(kind, await statementsOf({ name }), database.name);
  return database;
}

/** The same as a file of SQLite. */
export const migratedFile = async (path: string): Promise<void> => copyFileSync(await schema('sqlite'), path);

/**
 * The kinds that the file which asks is tested on: `for (const { kind, skip } of databases()) describeUnless(skip)(…)`.
 */
export function databases(): { kind: Kind; skip: string | undefined }[] {
  const suite = basename(expect.getState().testPath ?? '', '.test.ts');
  const kinds = SUITES[suite];
  if (!kinds) throw new Error(`test/support/databases.ts does not say on which databases ${suite} runs`);
  const wanted = kinds.filter((kind) => TEST_DATABASES?.split(',').includes(kind));
  // a file without any test would be a failure
  if (!wanted.length) return kinds.map((kind) => ({ kind, skip: `TEST_DATABASES=${TEST_DATABASES}` }));
  return wanted.map((kind) => ({ kind, skip: ABSENT[kind] && `${kind}: ${ABSENT[kind]}` }));
}
