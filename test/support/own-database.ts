import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { freePort, missing } from './bind.js';
import type { ServerKind } from './databases.js';

/** A database server of a single test, for tests that stop or block it. */
export interface OwnServer {
  /** URL without database name. */
  url: string;
  /** Runs a statement as the server's administrator, without a database. */
  query(sql: string): Promise<void>;
  /** Owner of its files. */
  user: { uid: number; gid: number };
  /** Its data directory. */
  data: string;
  /** Stops all its processes with SIGSTOP, and continues them. */
  freeze(): void;
  thaw(): void;
  stop(): Promise<void>;
}

/** Debian does not put these on the PATH. */
const VERSIONS = '/usr/lib/postgresql';
/** Its program that makes a data directory, beside all others; undefined: not installed. */
export const initdb = (): string | undefined => {
  try {
    const version = readdirSync(VERSIONS).toSorted().at(-1);
    return version && join(VERSIONS, version, 'bin/initdb');
  } catch {
    return undefined;
  }
};

/** Why none can be started here, if so; it also needs root. */
export const noOwnServer = (kind: ServerKind): string | undefined =>
  kind === 'mysql' ? missing('mariadbd', 'mariadb-install-db') : missing(initdb() ?? 'initdb', 'runuser');

/** The numbers of a user and its group. */
export const ids = (user: string) => {
  const id = (option: string) => Number(execFileSync('id', [option, user], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
};

/** The processes that a process has begun. */
export const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(/\s+/).filter(Boolean).map(Number);

/** How each server is created, started and queried in its own folder. */
const KINDS = {
  postgresql: {
    user: 'postgres',
    make: (data: string) => [initdb() as string, '-D', data, '-U', 'postgres', '-A', 'trust', '-N'],
    start: (data: string, port: number, folder: string) => [
      (initdb() as string).replace(/initdb$/, 'postgres'),
      ...['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', folder, '-F'],
    ],
    url: (port: number) => `postgres://postgres@127.0.0.1:${port}`,
    async query(url: string, sql: string) {
      const client = new pg.Client({ connectionString: `${url}/postgres` });
      await client.connect();
      await client.query(sql).finally(() => client.end());
    },
  },
  mysql: {
    user: 'mysql',
    make: (data: string) => [
      'mariadb-install-db',
      ...['--no-defaults', `--datadir=${data}`, '--auth-root-authentication-method=normal', '--skip-test-db'],
    ],
    start: (data: string, port: number, folder: string) => [
      'mariadbd',
      ...['--no-defaults', `--datadir=${data}`, `--port=${port}`, '--bind-address=127.0.0.1'],
      ...[`--socket=${join(folder, 'socket')}`, '--innodb-log-file-size=8M'],
    ],
    url: (port: number) => `mysql://root@127.0.0.1:${port}`,
    async query(url: string, sql: string) {
      const client = await mysql.createConnection({ uri: url });
      await client.query(sql).finally(() => client.end());
    },
  },
};

/** Starts a server of this kind, and again when it ends by itself, as a service manager does. */
export async function startOwnServer(kind: ServerKind): Promise<OwnServer> {
  const { make, start, url, query, user } = KINDS[kind];
  const folder = mkdtempSync(join(tmpdir(), `zoneward-${kind}-`));
  const owner = ids(user);
  chownSync(folder, owner.uid, owner.gid);
  const data = join(folder, 'data');
  const [program, ...options] = make(data) as [string, ...string[]];
  execFileSync(program, options, { stdio: 'ignore', cwd: folder, ...owner });
  const port = await freePort();
  const [server, ...args] = start(data, port, folder) as [string, ...string[]];
  let log = '';
  let restarts = false;
  const run = () => {
    const child = spawn(server, args, { stdio: ['ignore', 'ignore', 'pipe'], cwd: folder, ...owner });
    child.stderr.on('data', (chunk: Buffer) => {
      log = (log + chunk.toString()).slice(-20_000);
    });
    return child;
  };
  let child = run();
  const runs = () => child.exitCode === null && child.signalCode === null;
  const supervision = setInterval(() => {
    if (restarts && !runs()) child = run();
  }, 500);
  const stop = async () => {
    clearInterval(supervision);
    if (runs()) {
      // a frozen process does not handle signals
      thaw();
      // immediate shutdown; PostgreSQL ends its child processes
      child.kill(kind === 'mysql' ? 'SIGKILL' : 'SIGQUIT');
      await once(child, 'exit');
    }
    rmSync(folder, { recursive: true, force: true });
  };
  // a child process of a server that runs may end at any moment
  const signal = (pids: number[], name: NodeJS.Signals) => {
    for (const pid of pids) {
      try {
        process.kill(pid, name);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    }
  };
  const freeze = () => {
    const { pid } = child as { pid: number };
    process.kill(pid, 'SIGSTOP');
    // a parent that still runs forks a process for a connection that nothing stops
    while (!/\) [TZ] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8')));
    signal(childrenOf(pid), 'SIGSTOP');
  };
  const thaw = () => {
    const { pid } = child as { pid: number };
    signal([...childrenOf(pid), pid], 'SIGCONT');
  };
  const own: OwnServer = {
    url: url(port),
    query: (sql) => query(url(port), sql),
    user: owner,
    data,
    freeze,
    thaw,
    stop,
  };
  for (let attempt = 0; ; attempt++) {
    try {
      await own.query('SELECT 1');
      restarts = true;
      return own;
    } catch (error) {
      if (runs() && attempt < 200) {
        await sleep(50);
        continue;
      }
      await stop();
      throw new Error(`no ${kind} of its own started: ${error}\n${log}`);
    }
  }
}
