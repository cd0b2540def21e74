import { randomBytes } from 'node:crypto';
import { basename } from 'node:path';
import { expect } from '@jest/globals';
import mysql from 'mysql2/promise';
import pg from 'pg';

export type Kind = 'sqlite' | 'postgresql' | 'mysql';

/** What `global-setup.cjs` found out: where the servers are, and why their suites are left out. */
const { TEST_POSTGRES_URL, TEST_MYSQL_URL, TEST_NO_POSTGRES, TEST_NO_MYSQL, TEST_DATABASES } = process.env as Record<
  string,
  string
>;
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
  'confirmed-settings': ALL,
  'lists-migration': ALL,
  ownership: ALL,
  prepared: SERVERS,
  'record-created': ALL,
  schema: ALL,
  // the setup flow tries each kind; a server can go away
  setup: ALL,
  outage: SERVERS,
  // SQL of lists, filters and searches: collations, dates, numbers and plans differ
  'accounts-sync': ALL,
  audit: ALL,
  'audit-strangers': ALL,
  permissions: ALL,
  'put-symmetry': ALL,
  'record-filters': ALL,
  'records-dns': ALL,
  'records-filters': ALL,
  'records-list': ALL,
  settings: ALL,
  'settings-confirmation': ALL,
  suspicious: ALL,
  teams: ALL,
  'token-rule-limits': ALL,
  'token-rules': ALL,
  tokens: ALL,
  users: ALL,
  // what is decided under locks, by several at once
  lock: ALL,
  auth: ALL,
  lockout: ALL,
  mail: ALL,
  'passkeys-races': ALL,
  registration: ALL,
  'revoke-all': ALL,
  sessions: ALL,
  'users-last': ALL,
  replicas: SERVERS,
  // the same statements everywhere, and what may be left by a crash is a matter of having a server or not
  'admin-cli': ['sqlite', 'postgresql'],
  crash: ['sqlite', 'postgresql'],
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

async function run(kind: Kind, sql: string): Promise<void> {
  if (kind === 'postgresql') {
    const client = new pg.Client({ connectionString: TEST_POSTGRES_URL });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  } else {
    const client = await mysql.createConnection({ uri: TEST_MYSQL_URL as string });
    await client.query(sql).finally(() => client.end());
  }
}

/** An empty database of a server kind. @returns its URL for `DATABASE_URL`, and how to drop it */
export async function freshDatabase(
  kind: Exclude<Kind, 'sqlite'>,
): Promise<{ url: string; name: string; drop(): Promise<void> }> {
  const name = `zoneward_${randomBytes(6).toString('hex')}`;
  await run(kind, `CREATE DATABASE ${name}`);
  const url = new URL(kind === 'postgresql' ? (TEST_POSTGRES_URL as string) : (TEST_MYSQL_URL as string));
  url.pathname = `/${name}`;
  const drop = () => run(kind, `DROP DATABASE IF EXISTS ${name}${kind === 'postgresql' ? ' WITH (FORCE)' : ''}`);
  return { url: url.href, name, drop };
}

/** The kinds that the file which asks is tested on: `for (const { kind, skip } of databases()) describeUnless(skip)(…)`. */
export function databases(): { kind: Kind; skip: string | undefined }[] {
  const suite = basename(expect.getState().testPath ?? '', '.test.ts');
  const kinds = SUITES[suite];
  if (!kinds) throw new Error(`test/support/databases.ts does not say on which databases ${suite} runs`);
  const wanted = kinds.filter((kind) => TEST_DATABASES?.split(',').includes(kind));
  // a file without any test would be a failure
  if (!wanted.length) return kinds.map((kind) => ({ kind, skip: `TEST_DATABASES=${TEST_DATABASES}` }));
  return wanted.map((kind) => ({ kind, skip: ABSENT[kind] && `${kind}: ${ABSENT[kind]}` }));
}
