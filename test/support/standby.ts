import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { freePort } from './bind.js';
import { childrenOf, ids, initdb } from './own-database.js';

/** A server of PostgreSQL, and one that follows it. */
export interface Pair {
  primary: number;
  standby: number;
  /** Ends all processes of the primary at once, as a power cut does. */
  killPrimary(): Promise<void>;
  /** Makes the standby the one to write to. */
  promote(): void;
  /** Runs a statement as administrator of the server at this port. */
  query(port: number, sql: string, database?: string): Promise<Record<string, unknown>[]>;
  stop(): Promise<void>;
}

/** Starts a primary whose commits wait for its standby (`synchronous_commit = on`). */
export async function startPair(): Promise<Pair> {
  const folder = mkdtempSync(join(tmpdir(), 'zoneward-pair-'));
  const owner = ids('postgres');
  chownSync(folder, owner.uid, owner.gid);
  const bin = (name: string) => join(dirname(initdb() as string), name);
  const as = { stdio: 'ignore', cwd: folder, ...owner } as const;
  const data = (name: string) => join(folder, name);
  const run = (name: string, port: number) =>
    spawn(bin('postgres'), ['-D', data(name), '-p', String(port), '-h', '127.0.0.1', '-k', folder, '-F'], as);
  const query: Pair['query'] = async (port, sql, database = 'postgres') => {
    const client = new pg.Client({ connectionString: `postgres://postgres@127.0.0.1:${port}/${database}` });
    await client.connect();
    return client
      .query(sql)
      .then(({ rows }) => rows)
      .finally(() => client.end());
  };
  const answers = async (port: number, sql: string) => {
    for (let looks = 0; ; looks++) {
      const rows = await query(port, sql).catch(() => []);
      if (rows.length) return;
      if (looks === 400) throw new Error(`the server at port ${port} does not answer: ${sql}`);
      await sleep(50);
    }
  };
  const children: ReturnType<typeof spawn>[] = [];
  const kill = async (child: ReturnType<typeof spawn>) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    const pid = child.pid as number;
    // stopped first, so that it can begin no process meanwhile
    process.kill(pid, 'SIGSTOP');
    for (const one of [...childrenOf(pid), pid]) process.kill(one, 'SIGKILL');
    await gone;
  };
  const stop = async () => {
    for (const child of children) await kill(child);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const [primary, standby] = [await freePort(), await freePort()];
    execFileSync(bin('initdb'), ['-D', data('first'), '-U', 'postgres', '-A', 'trust', '-N'], as);
    children.push(run('first', primary));
    await answers(primary, 'SELECT 1');
    const from = ['-h', '127.0.0.1', '-p', String(primary), '-U', 'postgres'];
    execFileSync(bin('pg_basebackup'), [...from, '-D', data('second'), '-R', '-X', 'stream', '-c', 'fast', '-N'], as);
    children.push(run('second', standby));
    await query(primary, `ALTER SYSTEM SET synchronous_standby_names = '*'`);
    await query(primary, 'SELECT pg_reload_conf()');
    await answers(primary, `SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'`);
    return {
      primary,
      standby,
      killPrimary: () => kill(children[0] as ReturnType<typeof spawn>),
      promote: () => void execFileSync(bin('pg_ctl'), ['promote', '-D', data('second')], as),
      query,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
