import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase, withoutRates } from '../support/database.js';
import type { Kind } from '../support/databases.js';
import { type Client, isStopped, ServerProcess, type Service, startProcess } from '../support/server.js';
import { sleep } from '../support/sleep.js';
import { rowsOf } from '../support/tables.js';
import type { Dice } from './dice.js';
import { reloadScript, TIMEOUT_MS, writeReloadScript } from './grounds.js';

/** ms between two looks whether a process is stopped */
const LOOK_MS = 20;

/** ms in which a provider of these tests may still apply what it did not answer; more than it is ever late */
const UNCLEAR_MS = 1500;
const PRELOADED = join(import.meta.dirname, '../support/kill-at.mjs');

/** The service on one database, as a process that is killed and started again. */
export class Instance {
  starts = 1;

  private constructor(
    private readonly service: Service<ServerProcess>,
    private server: ServerProcess,
    private readonly env: Record<string, string>,
  ) {}

  static async open(kind: Kind): Promise<Instance> {
    const service = await startProcess(kind);
    const { dataDir } = service.server;
    writeReloadScript(dataDir);
    const database = await openDatabase(service.databaseUrl, dataDir);
    await withoutRates(database.db);
    await database.close();
    const env = {
      DATABASE_URL: service.databaseUrl,
      PROVIDER_TIMEOUT_MS: String(TIMEOUT_MS),
      UNCLEAR_AFTER_MS: String(UNCLEAR_MS),
      ZONEFILE_RELOAD_COMMAND: `sh ${reloadScript(dataDir)}`,
      NODE_OPTIONS: `--import=${PRELOADED}`,
      KILL_AT_FILE: join(dataDir, 'kill-at'),
    };
    await service.server.kill();
    return new Instance(service, await ServerProcess.start(env, dataDir), env);
  }

  get dataDir(): string {
    return this.server.dataDir;
  }

  get pid(): number {
    return this.server.pid;
  }

  get log(): string {
    return this.server.log;
  }

  client(): Client {
    return this.server.as(this.service.token);
  }

  rows<T>(sql: string): Promise<T[]> {
    return rowsOf({ databaseUrl: this.service.databaseUrl, server: this.server }, sql) as Promise<T[]>;
  }

  async count(sql: string): Promise<number> {
    return Number((await this.rows<{ n: number | string }>(`SELECT COUNT(*) AS n FROM ${sql}`))[0]?.n);
  }

  /** It dies at a statement, counted from now on. @param at such as `before 12` */
  killAt(at: string): void {
    writeFileSync(this.env.KILL_AT_FILE as string, at);
  }

  /** Nothing that it does from now on kills it. */
  pardon(): void {
    this.killAt('never 0');
  }

  /**
   * It is stopped at a step, counted from now on, its locks end, and it goes on. @param ms that it stays stopped
   * @returns what ends the watch for it
   */
  pauseAt(step: number, ms: number): () => void {
    this.killAt(`pause ${step}`);
    const { pid } = this;
    let on = true;
    const watch = async () => {
      for (; on && !isStopped(pid); await sleep(LOOK_MS));
      if (!on) return;
      await this.expire(pid).catch(() => undefined);
      await sleep(ms);
      process.kill(pid, 'SIGCONT');
    };
    void watch();
    return () => {
      on = false;
    };
  }

  /** The locks of a process end. */
  private async expire(pid: number): Promise<void> {
    const { db, close } = await openDatabase(this.service.databaseUrl, this.dataDir);
    await db
      .run(`UPDATE leases SET expires_at = '2020-01-01T00:00:00.000Z' WHERE owner LIKE ?`, [`%/${pid}/%`])
      .finally(close);
  }

  async kill(): Promise<void> {
    await this.server.kill();
  }

  /** Starts again where it has died; with dice it may die once more on its way. */
  async revive(dice?: Dice): Promise<void> {
    if (await this.answers()) return;
    // one that is just dying has not gone yet
    await this.server.kill();
    rmSync(this.env.KILL_AT_FILE as string, { force: true });
    const again: Record<string, string> = dice?.chance(0.25)
      ? { KILL_AT: `${dice.of(['before', 'after'])} ${dice.int(1, 120)}` }
      : {};
    this.starts++;
    this.server = await ServerProcess.start({ ...this.env, ...again }, this.dataDir).catch((error: Error) => {
      if (!again.KILL_AT) throw error;
      this.starts++;
      return ServerProcess.start(this.env, this.dataDir);
    });
  }

  /** Whether it lives, and has its database. */
  async answers(): Promise<boolean> {
    return fetch(`${this.server.url}/health/ready`).then(
      (answer) => answer.ok,
      () => false,
    );
  }

  /** What has been seen so far. */
  async statistics(): Promise<string> {
    const rows = await this.rows<{ state: string; n: number | string }>(
      'SELECT state, COUNT(*) AS n FROM record_changes GROUP BY state ORDER BY state',
    );
    const unclear = await this.count('record_changes WHERE settle_after IS NOT NULL');
    const states = rows.map(({ state, n }) => `${n} ${state}`);
    return `${this.starts} starts, changes: ${[...states, `${unclear} were unclear`].join(', ')}`;
  }

  async close(): Promise<void> {
    await this.server.kill();
    await this.service.stop();
  }
}
