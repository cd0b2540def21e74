import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect as connectTo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import type { Logger } from '../../src/platform/common/logger.js';
import { parseDatabaseUrl } from '../../src/platform/config/config.js';
import { AppDataSource } from '../../src/platform/database/app-data-source.js';
import type { DatabaseService } from '../../src/platform/database/database.service.js';
import type { Db } from '../../src/platform/database/db.js';
import type { Installation } from '../../src/platform/database/installation.js';
import { Events } from '../../src/platform/events/events.js';
import { JobQueue } from '../../src/platform/jobs/job-queue.service.js';
import { JobReader } from '../../src/platform/jobs/job-reader.service.js';
import { Jobs } from '../../src/platform/jobs/jobs.js';
import { JobsRepository } from '../../src/platform/jobs/jobs.repository.js';
import { JobRunner } from '../../src/platform/jobs/runner.service.js';
import { Metrics } from '../../src/platform/metrics/metrics.js';
import { RedisLink } from '../../src/platform/redis/redis-link.js';
import { Traces } from '../../src/platform/traces/traces.js';
import { type Kind, migratedDatabase, migratedFile } from './databases.js';
import { dbOn } from './db.js';
import { REDIS_URL } from './redis.js';
import { SILENT } from './silent.js';

/** A job runner with its own connections, as in a separate process. */
export interface Doer {
  jobs: Jobs;
  db: Db;
  events: Events;
  reader: JobReader;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** A database with several job runners. */
export interface JobFixture {
  doer(redisUrl?: string): Promise<Doer>;
  /** Starts a process with one scheduled job; `runs` counts its runs. */
  process(redisUrl: string, name: string, everyMs: number, ms: number): { child: ChildProcess; runs(): number };
  close(): Promise<void>;
}

export async function jobFixture(kind: Kind, logger: Logger = SILENT): Promise<JobFixture> {
  const folder = mkdtempSync(join(tmpdir(), 'zoneward-jobs-'));
  const file = join(folder, 'jobs.db');
  if (kind === 'sqlite') await migratedFile(file);
  const server = kind === 'sqlite' ? undefined : await migratedDatabase(kind);
  const url = server?.url ?? `sqlite:${file}`;
  const doers: Doer[] = [];
  let redisUsed = false;
  const children: ChildProcess[] = [];
  return {
    async doer(redisUrl) {
      redisUsed ||= redisUrl !== undefined;
      const source = new AppDataSource([]);
      await source.prepare(parseDatabaseUrl(url, folder));
      await source.initialize();
      const db = dbOn(source);
      const repository = new JobsRepository(db);
      const queue = new JobQueue(repository);
      const jobs = new Jobs(queue, repository);
      const events = new Events(logger);
      const open = { open: true } as DatabaseService;
      const works = { halted: null, paused: null, serve() {} } as unknown as Installation;
      const link = new RedisLink({ redisUrl: redisUrl ?? null }, logger);
      const runner = new JobRunner(link, jobs, queue, repository, open, events, works, new Traces(), logger);
      runner.onModuleInit();
      let stopped = false;
      const stop = async () => {
        if (stopped) return;
        stopped = true;
        runner.onModuleDestroy();
        await runner.beforeApplicationShutdown();
        link.onApplicationShutdown();
        await source.destroy();
      };
      const doer = {
        jobs,
        db,
        events,
        reader: new JobReader(jobs, repository, works, new Metrics()),
        start: () => events.emit('database.opened'),
        stop,
      };
      doers.push(doer);
      return doer;
    },
    process(redisUrl, name, everyMs, ms) {
      const script = join(import.meta.dirname, 'job-process.mjs');
      const child = spawn(process.execPath, [script, url, redisUrl, name, String(everyMs), String(ms)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      children.push(child);
      let out = '';
      child.stdout.on('data', (chunk) => {
        out += chunk;
      });
      return { child, runs: () => out.split('\n').length - 1 };
    },
    async close() {
      for (const child of children) child.kill('SIGKILL');
      const first = await doers[0]?.db
        .row<{ at: string }>('SELECT MIN(created_at) AS at FROM jobs')
        .catch(() => undefined);
      for (const doer of doers) await doer.stop();
      if (redisUsed && first) await forget(first.at);
      await server?.drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The installation's key prefix in Redis, named after its first job. */
export const inRedis = (birth: string): string => `zoneward:jobs:jobs-${birth.replace(/\D/g, '')}`;

async function forget(birth: string): Promise<void> {
  const redis = new Redis(REDIS_URL);
  const keys = await redis.keys(`${inRedis(birth)}:*`);
  if (keys.length) await redis.del(keys);
  redis.disconnect();
}

/** A proxy to Redis that can be cut or frozen: a frozen one accepts requests without answering. */
export async function cuttable(redisUrl: string) {
  const { hostname, port } = new URL(redisUrl);
  const sockets = new Set<Socket>();
  let open = true;
  let frozen = false;
  const server = createServer((inner) => {
    if (!open) return inner.destroy();
    if (frozen) return void sockets.add(inner.on('error', () => undefined));
    const outer = connectTo(Number(port || 6379), hostname);
    for (const [socket, other] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => other.destroy());
      socket.pipe(other);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = () => {
    open = false;
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    freeze: () => {
      frozen = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    mend: () => {
      if (frozen) cut();
      frozen = false;
      open = true;
    },
    close: () => {
      cut();
      server.close();
    },
  };
}
