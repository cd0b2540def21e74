import type { Queue, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { within } from '../common/clock.js';
import { log } from '../common/logger.js';
import type { Engine } from './engine.js';

/** runs that this process has at once */
const CONCURRENCY = 32;
/** ms after which the run of a process that is gone is handed to another one */
const LOCK_MS = 30_000;
const STOP_MS = 1000;
/** ticks that are remembered as planned */
const MAX_PLANNED = 2000;

/** BullMQ, over Redis: every tick of a job is a delayed job there, named after both, so that it exists once. */
export class BullEngine implements Engine {
  private queue: Queue | undefined;
  private worker: Worker | undefined;
  private readonly clients: Redis[] = [];
  /** the next tick of jobs as it was planned from here */
  private readonly planned = new Map<number, string>();
  private away = false;
  private stopped = false;

  /**
   * @param name of the installation, so that several may share one Redis
   * @param due a job is due; ends with its run
   * @param changed Redis came, or went away
   */
  constructor(
    private readonly url: string,
    private readonly name: string,
    private readonly due: (id: number) => Promise<void>,
    private readonly changed: () => void,
  ) {}

  get up(): boolean {
    return this.clients.length > 0 && this.clients.every(({ status }) => status === 'ready');
  }

  /** Its packages are loaded where they are needed only. Redis may be away, and may come later. */
  async start(): Promise<void> {
    const [bull, { Redis: Client }] = await Promise.all([import('bullmq'), import('ioredis')]);
    const client = (more: object) => {
      const made = new Client(this.url, { maxRetriesPerRequest: null, lazyConnect: true, ...more });
      made.on('error', (error: Error) => this.lost(error.message));
      made.on('close', () => this.lost('the connection was closed'));
      made.on('ready', () => this.back());
      this.clients.push(made);
      made.connect().catch(() => undefined); // told by the error event
      return made;
    };
    const options = { prefix: 'zoneward:jobs', skipVersionCheck: true };
    // what cannot be said now is not worth being said later
    const connection = client({ enableOfflineQueue: false });
    const ends = { removeOnComplete: true, removeOnFail: true };
    this.queue = new bull.Queue(this.name, { connection, defaultJobOptions: ends, ...options });
    this.worker = new bull.Worker(this.name, async ({ data }) => this.due(Number(data.id)), {
      connection: client({}),
      concurrency: CONCURRENCY,
      lockDuration: LOCK_MS,
      ...options,
    });
    this.queue.on('error', (error) => this.lost(error.message));
    this.worker.on('error', (error) => this.lost(error.message));
  }

  plan(id: number, at: string): void {
    if (!this.queue || !this.up || this.planned.get(id) === at) return;
    if (this.planned.size >= MAX_PLANNED) this.planned.clear();
    this.planned.set(id, at);
    const time = Date.parse(at);
    this.queue
      .add('due', { id }, { jobId: `${id}-${time}`, delay: Math.max(0, time - Date.now()) })
      .catch((error: Error) => {
        this.planned.delete(id);
        this.lost(error.message);
      });
  }

  async stop(): Promise<void> {
    this.stopped = true;
    // what it runs is waited for by who runs it; Redis may be away
    const closing = [this.worker?.close(true), this.queue?.close()].map((end) => end?.catch(() => undefined));
    await within(Promise.all(closing), STOP_MS);
    for (const client of this.clients) client.disconnect();
  }

  private lost(reason: string): void {
    if (this.away || this.stopped || this.up) return;
    this.away = true;
    this.planned.clear();
    log().warn({ err: reason }, 'Redis does not answer; jobs are found in the database');
    this.changed();
  }

  private back(): void {
    if (this.stopped || !this.up) return;
    if (this.away) log().info('Redis answers again; jobs are handed out by it');
    this.away = false;
    this.planned.clear();
    this.changed();
  }
}
