import type { Queue, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { timeMs, within } from '../common/clock.js';
import type { Logger } from '../common/logger.js';
import type { RedisLink } from '../redis/redis-link.js';
import type { Engine } from './engine.js';

/** runs of this process at once */
const CONCURRENCY = 32;
/** ms after which a run of a process that died is handed to another one */
const LOCK_MS = 30_000;
const STOP_MS = 1000;
const RETRY_MS = 1000;
/** planned ticks that are remembered */
const MAX_PLANNED = 2000;
/** entries of BullMQ's own event log, which is for debugging only */
const MAX_EVENTS = 1000;

/** BullMQ on one connection; it is replaced when the connection breaks, since BullMQ may not reconnect by itself. */
interface Line {
  queue: Queue;
  worker: Worker;
  clients: Redis[];
}

/** BullMQ, over Redis: each tick of a job is a delayed job there, whose name makes it unique. */
export class BullEngine implements Engine {
  private line: Line | null = null;
  /** by job, the next tick that this process has planned */
  private readonly planned = new Map<number, string>();
  private stopped = false;
  private resting = false;
  private readonly failed = (error: Error): void => this.logger.debug({ err: error.message }, 'BullMQ');

  /**
   * @param name of the installation, so that several may share one Redis
   * @param due runs a job that is due, and resolves when the run ends
   * @param changed called when Redis became available or unavailable
   */
  constructor(
    private readonly redis: RedisLink,
    private readonly name: string,
    private readonly due: (id: number) => Promise<void>,
    private readonly changed: () => void,
    private readonly logger: Logger,
  ) {}

  get up(): boolean {
    return this.line !== null;
  }

  /** Loads the package only when it is needed. Redis may be unavailable, and become available later. */
  async start(): Promise<void> {
    const bull = await import('bullmq');
    this.redis.follow((client) => {
      if (this.stopped) return;
      void this.hangUp();
      if (client) this.open(bull, client);
      this.changed();
    });
  }

  plan(id: number, at: string): void {
    if (!this.line || this.planned.get(id) === at) return;
    if (this.planned.size >= MAX_PLANNED) this.planned.clear();
    this.planned.set(id, at);
    const time = Date.parse(at);
    const delay = Math.max(0, time - timeMs());
    // a tick that could not be planned is found in the database
    this.line.queue
      .add('due', { id }, { jobId: `${id}-${time}`, delay, timestamp: timeMs() })
      .catch(() => this.planned.delete(id));
  }

  rest(resting: boolean): void {
    if (this.resting === resting) return;
    this.resting = resting;
    const worker = this.line?.worker;
    if (resting) void worker?.pause(true).catch(this.failed);
    else void worker?.resume();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.hangUp();
  }

  private open({ Queue, Worker }: typeof import('bullmq'), link: Redis): void {
    const clients: Redis[] = [];
    const kept = (client: Redis): Redis => {
      client.on('error', this.failed);
      clients.push(client);
      // BullMQ duplicates the client, and does not close all duplicates when Redis is unavailable
      const { duplicate } = client;
      return Object.assign(client, { duplicate: (more: object) => kept(duplicate.call(client, more)) });
    };
    // blocking commands need a connection of their own, without a timeout
    const patient = { maxRetriesPerRequest: null, enableOfflineQueue: true, lazyConnect: false };
    const connection = kept(link.duplicate({ ...patient, commandTimeout: undefined }));
    const options = { prefix: 'zoneward:jobs', connection };
    const queue = new Queue(this.name, {
      ...options,
      defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
      streams: { events: { maxLen: MAX_EVENTS } },
    });
    const worker = new Worker(this.name, async ({ data }) => this.due(Number(data.id)), {
      ...options,
      concurrency: CONCURRENCY,
      lockDuration: LOCK_MS,
      runRetryDelay: RETRY_MS,
    });
    // the link sees the same errors, and logs them
    queue.on('error', this.failed);
    worker.on('error', this.failed);
    if (this.resting) void worker.pause(true).catch(this.failed);
    this.line = { queue, worker, clients };
  }

  /** Does not wait for runs: the runner does. */
  private async hangUp(): Promise<void> {
    const { line } = this;
    this.line = null;
    this.planned.clear();
    if (!line) return;
    const closing = [line.worker.close(true), line.queue.close()].map((end) => end.catch(() => undefined));
    await within(Promise.all(closing), STOP_MS);
    for (const client of line.clients) client.disconnect();
  }
}
