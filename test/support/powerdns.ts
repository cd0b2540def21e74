import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { freePort, missing } from './bind.js';

const SERVER = '/usr/sbin/pdns_server';
const SQLITE_SCHEMA = '/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql';

/** A reason to skip tests that need PowerDNS, or false. Importing this in CI fails without PowerDNS. */
export const noPowerdns: string | false = missing(SERVER, 'sqlite3', 'dig') ?? false;

const PGSQL_SCHEMA = '/usr/share/pdns-backend-pgsql/schema/schema.pgsql.sql';
const POSTGRES = process.env.TEST_POSTGRES_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres';

/** The same for its PostgreSQL backend, which needs its package and a database server. */
export const noPowerdnsOverPostgresql: string | false =
  noPowerdns ||
  process.env.TEST_NO_POSTGRES ||
  (existsSync(PGSQL_SCHEMA) || process.env.TEST_SKIPS === 'forbidden' ? false : 'not installed: pdns-backend-pgsql');

export type PowerdnsBackend = 'sqlite' | 'lmdb' | 'postgresql';

interface PowerdnsOptions {
  backend?: PowerdnsBackend;
  /** A loopback address, unique for the test file, at which names are answered on port 53; needs root. */
  address?: string;
}

/** A zone as returned by the PowerDNS API. */
export interface RawZone {
  id: string;
  name: string;
  rrsets: {
    name: string;
    type: string;
    ttl: number;
    records: { content: string; disabled: boolean }[];
    comments: { content: string; account: string; modified_at: number }[];
  }[];
}

export interface Powerdns {
  /** Base URL of the API server, without path. */
  url: string;
  apiKey: string;
  dnsPort: number;
  pid: number;
  /** Calls the PowerDNS API directly. @param path below `/api/v1/servers/localhost` */
  api(method: string, path: string, body?: unknown): Promise<Response>;
  /** Creates a zone with SOA and one NS. */
  createZone(name: string): Promise<void>;
  zone(name: string): Promise<RawZone>;
  stop(): Promise<void>;
}

/**
 * Starts a real `pdns_server` in its own folder, with caches off so that `dig` sees each write at once, and without
 * syncing to disk.
 */
export async function startPowerdns({ backend = 'sqlite', address }: PowerdnsOptions = {}): Promise<Powerdns> {
  for (let attempt = 1; ; attempt++) {
    const started = await tryStart(backend, address);
    if (typeof started !== 'string') return started;
    // another process may have taken the port before the start
    if (attempt === 3) throw new Error(`pdns_server did not start:\n${started}`);
  }
}

/** Runs a function with a database of the PostgreSQL server. */
async function inPostgres<T>(database: string | null, body: (client: pg.Client) => Promise<T>): Promise<T> {
  const url = new URL(POSTGRES);
  if (database) url.pathname = `/${database}`;
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  try {
    return await body(client);
  } finally {
    await client.end();
  }
}

/** Creates a backend and returns the server's options for it. */
async function launch(backend: PowerdnsBackend, path: string, name: string): Promise<string[]> {
  if (backend === 'lmdb') return ['--launch=lmdb', `--lmdb-filename=${path}`, '--lmdb-sync-mode=nosync'];
  if (backend === 'sqlite') {
    execFileSync('sqlite3', [path], { input: await readFile(SQLITE_SCHEMA) });
    return ['--launch=gsqlite3', `--gsqlite3-database=${path}`, '--gsqlite3-pragma-synchronous=0'];
  }
  const schema = await readFile(PGSQL_SCHEMA, 'utf8');
  await inPostgres(null, (client) => client.query(`CREATE DATABASE ${name}`));
  await inPostgres(name, (client) => client.query(schema));
  const { hostname, port, username, password } = new URL(POSTGRES);
  return [
    '--launch=gpgsql',
    `--gpgsql-host=${hostname}`,
    `--gpgsql-port=${port || 5432}`,
    `--gpgsql-user=${username}`,
    `--gpgsql-password=${password}`,
    `--gpgsql-dbname=${name}`,
  ];
}

async function tryStart(backend: PowerdnsBackend, address?: string): Promise<Powerdns | string> {
  const dir = await mkdtemp(join(tmpdir(), 'zoneward-pdns-'));
  const [dnsPort, apiPort] = [address ? 53 : await freePort(), await freePort()];
  const apiKey = 'a-key-for-the-tests';
  const database = `zoneward_pdns_${process.pid}_${apiPort}`;
  const store = await launch(backend, join(dir, backend), database);
  const child = spawn(
    SERVER,
    [
      '--no-config',
      '--daemon=no',
      '--guardian=no',
      '--disable-syslog',
      `--socket-dir=${dir}`,
      `--local-address=${address ?? '127.0.0.1'}`,
      `--local-port=${dnsPort}`,
      ...store,
      '--webserver=yes',
      '--webserver-address=127.0.0.1',
      `--webserver-port=${apiPort}`,
      '--api=yes',
      `--api-key=${apiKey}`,
      ...['cache', 'query-cache', 'negquery-cache'].map((cache) => `--${cache}-ttl=0`),
      '--zone-cache-refresh-interval=0',
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let log = '';
  const ended = once(child, 'exit');
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      log = `${log}${chunk}`.slice(-4000);
    });
  }
  const url = `http://127.0.0.1:${apiPort}`;
  const api = (method: string, path: string, body?: unknown) =>
    fetch(`${url}/api/v1/servers/localhost${path}`, {
      method,
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await ended;
    if (backend === 'postgresql') {
      await inPostgres(null, (client) => client.query(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`));
    }
    await rm(dir, { recursive: true, force: true });
  };
  for (const deadline = Date.now() + 10_000; ; await sleep(50)) {
    const ready = await api('GET', '').then(
      (answer) => answer.ok,
      () => false,
    );
    if (ready && child.exitCode === null) break;
    if (child.exitCode === null && Date.now() < deadline) continue;
    await stop();
    return log;
  }
  return {
    url,
    apiKey,
    dnsPort,
    pid: child.pid as number,
    api,
    async createZone(name) {
      const answer = await api('POST', '/zones', {
        name: `${name}.`,
        kind: 'Native',
        nameservers: ['ns1.example.net.'],
      });
      if (answer.status !== 201) throw new Error(`zone ${name}: ${answer.status} ${await answer.text()}`);
    },
    zone: async (name) => (await (await api('GET', `/zones/${encodeURIComponent(`${name}.`)}`)).json()) as RawZone,
    stop,
  };
}
