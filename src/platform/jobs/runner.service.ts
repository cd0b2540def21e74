import { type BeforeApplicationShutdown, Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { after, type Cancel, isClockOff, MAX_CLOCK_OFFSET_MS, sleep, timeMs, within } from '../common/clock.js';
import { Logger } from '../common/logger.js';
import { DatabaseService } from '../database/database.service.js';
import { isDatabaseDown, whyUnwritable } from '../database/db.js';
import { Installation } from '../database/installation.js';
import { Events } from '../events/events.js';
import { RedisLink } from '../redis/redis-link.js';
import { Traces } from '../traces/traces.js';
import { BullEngine } from './bull-engine.js';
import type { Engine } from './engine.js';
import { JobQueue } from './job-queue.service.js';
import { type DueRow, isDue } from './job-state.js';
import { Jobs, type JobWorker, type Started } from './jobs.js';
import { JobsRepository, LOOK } from './jobs.repository.js';
import { JobRuns, type Looker } from './runs.js';

/** ms between two looks for due jobs at most, and at least */
const LOOK_MS = 1000;
const MIN_LOOK_MS = 20;
/** pages of jobs that one look reads at most */
const MOST_PAGES = 40;
/** ms between two looks while Redis hands out jobs, and how late a job must be that Redis seems to have lost */
const NET_MS = 5000;
const GRACE_MS = 3000;
/** ms that the shutdown waits for runs: those that are cut off begin again in another process */
const STOP_WAIT_MS = 5000;
const HOUR_MS = 3_600_000;
/**
 * ms by which a job must be late before a process with a wrong clock takes it: where another process has begun jobs
 * lately, and where none has. All times are the database's in either case.
 */
const CLOCK_GRACE_MS = 5000;
const ALONE_GRACE_MS = 60_000;
const LATELY_MS = 600_000;

/**
 * Finds jobs that are due, by polling and through Redis. The process whose compare-and-set takes a job runs it, in
 * `JobRuns`.
 */
@Injectable()
export class JobRunner implements OnModuleInit, OnModuleDestroy, BeforeApplicationShutdown, JobWorker, Looker {
  private readonly stopping = new AbortController();
  private readonly runs: JobRuns;
  private engine: Engine | null = null;
  private cancelLook: Cancel | undefined;
  private opened = false;
  /** how many scheduled jobs have their rows */
  private registered = 0;
  private looking = false;
  private again = false;
  private looksAt = 0;
  /** why the last look failed */
  private trouble: unknown = null;

  constructor(
    private readonly redis: RedisLink,
    private readonly jobs: Jobs,
    private readonly queue: JobQueue,
    private readonly repository: JobsRepository,
    private readonly database: DatabaseService,
    private readonly events: Events,
    private readonly installation: Installation,
    traces: Traces,
    private readonly logger: Logger,
  ) {
    const { signal } = this.stopping;
    this.runs = new JobRuns(jobs, queue, repository, this, signal, events, traces, logger, () => installation.halted);
  }

  onModuleInit(): void {
    this.jobs.attach(this);
    this.installation.serve();
    this.jobs.schedule('jobs.tidy', HOUR_MS, () => this.queue.tidy([...this.jobs.scheduled.keys()]));
    this.events.on('database.opened', async () => {
      if (this.opened || this.stopping.signal.aborted) return;
      this.opened = true;
      this.wake();
    });
  }

  /** Before the server waits for requests in flight, so that runs end meanwhile. */
  onModuleDestroy(): void {
    this.stopping.abort();
  }

  /** Before the database is closed: the ends of runs have to be written. */
  async beforeApplicationShutdown(): Promise<void> {
    this.cancelLook?.();
    await within(this.runs.ended(), STOP_WAIT_MS);
    await this.engine?.stop();
  }

  wake(): void {
    if (this.stopping.signal.aborted || !this.opened) return;
    if (this.looking) this.again = true;
    else void this.look();
  }

  start<T>(name: string, payload: unknown, key: string | null, waitMs: number): Promise<Started<T>> {
    return this.runs.start<T>(name, payload, key, waitMs);
  }

  /** ms by which a job must be late before this process takes it: a process with a wrong clock is the last to. */
  private async patience(): Promise<number> {
    if (!isClockOff()) return 0;
    return (await this.repository.someBegan(LATELY_MS)) ? CLOCK_GRACE_MS : ALONE_GRACE_MS;
  }

  /** Makes the rows of scheduled jobs, once. */
  private async prepare(): Promise<void> {
    const { scheduled } = this.jobs;
    if (this.registered === scheduled.size) return;
    await this.queue.register(new Map([...scheduled].map(([name, { everyMs }]) => [name, everyMs])));
    this.registered = scheduled.size;
    if (this.redis.state !== 'none' && !this.engine) await this.useRedis();
  }

  private async useRedis(): Promise<void> {
    const due = async (id: number) => {
      let row = this.database.open ? await this.repository.one(id) : undefined;
      // the clock of the process that planned it may be a little ahead
      const early = row?.state === 'waiting' ? Date.parse(row.next_at) - timeMs() : 0;
      if (early > 0 && early <= MAX_CLOCK_OFFSET_MS) {
        await sleep(early + 1);
        row = this.database.open ? await this.repository.one(id) : undefined;
      }
      if (row && isDue(row, await this.patience())) await (await this.runs.begin(row))?.end;
    };
    this.engine = new BullEngine(this.redis, `jobs-${await this.queue.birth()}`, due, () => this.wake(), this.logger);
    await this.engine.start().catch((error: Error) => {
      this.logger.error({ err: error }, 'jobs cannot be handed out by Redis; they are found in the database');
    });
  }

  private async look(): Promise<void> {
    this.looking = true;
    this.again = false;
    this.cancelLook?.();
    let wait = LOOK_MS;
    try {
      if (this.database.open && !this.installation.halted) await this.prepare();
      this.engine?.rest(isClockOff());
      const told = this.engine?.up ?? false;
      if (told) wait = NET_MS;
      await this.beginDue(told, ({ id, next_at }) => {
        if (told) this.engine?.plan(id, next_at);
        else wait = Math.min(wait, Date.parse(next_at) - timeMs());
      });
      this.trouble = null;
    } catch (error) {
      const err = whyUnwritable(error) ?? error;
      if (!isDatabaseDown(error) && err !== this.trouble) this.logger.error({ err }, 'jobs could not be looked for');
      this.trouble = err;
    } finally {
      this.looking = false;
      this.lookIn(this.again ? 0 : wait);
    }
  }

  /**
   * Begins the jobs that are due.
   * @param told whether others tell of them, too
   * @param plan is called with each that waits for its time
   */
  private async beginDue(told: boolean, plan: (row: DueRow) => void): Promise<void> {
    const names = [...this.jobs.scheduled.keys(), ...this.jobs.handlers.keys()];
    const late = await this.lateness(told);
    let rows = this.database.open ? await this.repository.next(names) : [];
    // no scheduled jobs: the database was replaced, and they need their rows again
    if (!rows.some(({ kind }) => kind === 'scheduled')) this.registered = 0;
    for (let page = 1; rows.length; page++) {
      let left = false;
      for (const row of rows) {
        if (isDue(row, late)) left = !(await this.runs.begin(row)) || left;
        else if (row.state === 'waiting') plan(row);
      }
      // jobs without a free slot for their owner must not hide jobs of others behind them
      const more = left && rows.length === LOOK && page < MOST_PAGES;
      rows = more ? await this.repository.next(names, rows.at(-1)) : [];
    }
  }

  /** ms by which a job must be late before a look begins it. */
  private async lateness(told: boolean): Promise<number> {
    const patience = this.database.open ? await this.patience() : 0;
    return Math.max(patience, told ? GRACE_MS : 0);
  }

  /** Plans the next look, in place of the one that was planned. */
  private lookIn(ms: number): void {
    this.cancelLook?.();
    if (this.stopping.signal.aborted) return;
    this.looksAt = timeMs() + Math.max(MIN_LOOK_MS, ms);
    this.cancelLook = after(Math.max(MIN_LOOK_MS, ms), () => void this.look(), { idle: true });
  }

  /** Plans for a job that will be due at this moment. */
  plan(id: number, at: string): void {
    const time = Date.parse(at);
    if (this.engine?.up) this.engine.plan(id, at);
    else if (!this.looking && time < this.looksAt) this.lookIn(time - timeMs());
  }
}
