import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { freePort, missing } from './bind.js';
import { ids } from './own-database.js';

/** Why there is no PgBouncer, if so; it needs root to run as another user. */
export const noPgbouncer: string | undefined = missing('pgbouncer');

export interface Pgbouncer {
  /** Host and port, for a URL. */
  address: string;
  /** Ends it without a word to whoever is connected; `start` begins it again at the same port. */
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * PgBouncer in front of the server of this URL.
 * @param mode what a client has a connection of the server for
 * @param size connections to the server, for each database
 */
export async function startPgbouncer(server: string, mode: string, size: number): Promise<Pgbouncer> {
  const folder = mkdtempSync(join(tmpdir(), 'zoneward-pgbouncer-'));
  const owner = ids('postgres');
  chownSync(folder, owner.uid, owner.gid);
  const { hostname, port: behind, username } = new URL(server);
  const port = await freePort();
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'trust',
    auth_file: join(folder, 'users'),
    pool_mode: mode,
    default_pool_size: size,
    max_client_conn: 500,
    server_login_retry: 1,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  writeFileSync(join(folder, 'users'), `"${username}" ""\n`);
  writeFileSync(
    join(folder, 'ini'),
    [`[databases]`, `* = host=${hostname} port=${behind}`, '[pgbouncer]', ...lines, ''].join('\n'),
  );
  let child: ReturnType<typeof spawn> | undefined;
  const kill = async () => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  const answers = async () => {
    const client = new pg.Client({ connectionString: `postgres://${username}@127.0.0.1:${port}/postgres` });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.query('SELECT 1');
      return true;
    } catch {
      return false;
    } finally {
      await client.end().catch(() => undefined);
    }
  };
  const start = async () => {
    child = spawn('pgbouncer', ['-q', join(folder, 'ini')], { stdio: 'ignore', cwd: folder, ...owner });
    for (let looks = 0; !(await answers()); looks++) {
      if (looks === 200) throw new Error('pgbouncer did not start');
      await sleep(50);
    }
  };
  const stop = async () => {
    await kill();
    rmSync(folder, { recursive: true, force: true });
  };
  const own: Pgbouncer = { address: `127.0.0.1:${port}`, kill, start, stop };
  try {
    await start();
    return own;
  } catch (error) {
    await stop();
    throw error;
  }
}
