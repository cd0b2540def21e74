import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { now, within } from '../common/clock.js';
import { errors } from '../common/errors.js';
import { log } from '../common/logger.js';
import type { Config } from '../config/config.js';
import { CONFIG } from '../config/config.module.js';
import { DatabaseService } from '../database/database.service.js';
import { isDatabaseDown, whyUnwritable } from '../database/db.js';
import { HOLDINGS, newHolding } from '../database/process-name.js';
import { Events } from '../events/events.js';
import { BullEngine } from './bull-engine.js';
import type { Engine } from './engine.js';
import { type DueRow, type Ending, isDue, JobStore, stored } from './job-store.js';
import { type Handler, type JobRun, Jobs, type JobWorker, type Started } from './jobs.js';

/** ms between two looks at most, and at least */
const LOOK_MS = 1000;
const MIN_LOOK_MS = 20;
/** the same while Redis hands the jobs out, and how late one must be that it seems to have lost */
const NET_MS = 5000;
const GRACE_MS = 3000;
const RENEW_MS = 10_000;
const PROGRESS_MS = 1000;
/** ms that the end waits for what runs: it is begun again elsewhere when it is cut off */
const STOP_WAIT_MS = 5000;
const HOUR_MS = 3_600_000;

/** jobs that are done once that this process has at once: those that come again and again wait for none of them */
const PARALLEL = 16;
/** ms until the next try, after each failure */
const DELAYS = [10_000, 60_000, 300_000, 1_800_000, 7_200_000];

const triesOf = ({ tries = DELAYS.length + 1 }: Handler): number => tries;

/** Somebody who waits for the end of a job. */
interface Watch {
  /** it is about to be told */
  ended: boolean;
  resolve: (result: unknown) => void;
  reject: (error: Error) => void;
}

/** A run in this process. */
interface Run {
  end: Promise<void>;
  once: boolean;
}

/** Does the jobs: of all processes the one whose compare-and-set takes a job has it. */
@Injectable()
export class JobRunner implements OnModuleInit, OnModuleDestroy, BeforeApplicationShutdown, JobWorker {
  private readonly running = new Map<number, Run>();
  /** on their way from the table to `running` */
  private readonly starting = new Set<Promise<unknown>>();
  private readonly watches = new Map<number, Watch>();
  private readonly stopping = new AbortController();
  private engine: Engine | null = null;
  private timer: NodeJS.Timeout | undefined;
  private opened = false;
  /** scheduled jobs that have their rows */
  private registered = 0;
  private looking = false;
  private again = false;
  private looksAt = 0;
  /** why the look before failed */
  private trouble: unknown = null;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly jobs: Jobs,
    private readonly store: JobStore,
    private readonly database: DatabaseService,
    private readonly events: Events,
  ) {}

  onModuleInit(): void {
    this.jobs.attach(this);
    this.jobs.schedule('jobs.tidy', HOUR_MS, () => this.store.tidy());
    this.events.on('database.opened', async () => {
      if (this.opened || this.stopping.signal.aborted) return;
      this.opened = true;
      this.wake();
    });
  }

  /** Before the server waits for requests in flight: what runs ends soon. */
  onModuleDestroy(): void {
    this.stopping.abort();
  }

  /** Before the others' shutdown, which closes the database: what was done must be noted. */
  async beforeApplicationShutdown(): Promise<void> {
    clearTimeout(this.timer);
    const ends = async () => {
      await Promise.allSettled(this.starting);
      await Promise.all([...this.running.values()].map(({ end }) => end));
    };
    await within(ends(), STOP_WAIT_MS);
    await this.engine?.stop();
  }

  wake(): void {
    if (this.stopping.signal.aborted || !this.opened) return;
    if (this.looking) this.again = true;
    else void this.look();
  }

  async start<T>(name: string, payload: unknown, key: string | null, waitMs: number): Promise<Started<T>> {
    if (this.stopping.signal.aborted) throw errors.notReady('The service is about to end; try again', 5);
    const taken = this.take<T>(name, payload, key, waitMs);
    this.starting.add(taken);
    const { ended } = await taken.finally(() => this.starting.delete(taken));
    return ended;
  }

  /** Takes a job for somebody who waits, and begins it. @returns what they are told, not waited for here */
  private async take<T>(
    name: string,
    payload: unknown,
    key: string | null,
    waitMs: number,
  ): Promise<{ ended: Promise<Started<T>> }> {
    const owner = newHolding();
    const row = await this.store.begin(name, payload, key, owner).catch((error: Error) => {
      HOLDINGS.delete(owner);
      throw error;
    });
    if ('runs' in row) {
      HOLDINGS.delete(owner);
      throw errors.conflict('That runs already; see the job', { job_id: row.runs });
    }
    const { id } = row;
    const ended = new Promise<Started<T>>((resolve, reject) => {
      const patience = setTimeout(() => {
        if (watch.ended) return;
        this.watches.delete(id);
        resolve({ id, ended: false });
      }, waitMs);
      const watch: Watch = {
        ended: false,
        resolve: (result) => {
          clearTimeout(patience);
          resolve(result === this ? { id, ended: false } : { id, ended: true, result: result as T });
        },
        reject: (error) => {
          clearTimeout(patience);
          reject(error);
        },
      };
      if (waitMs > 0) this.watches.set(id, watch);
    });
    this.keep(row, owner);
    return { ended };
  }

  /** What is scheduled gets its rows, once. */
  private async prepare(): Promise<void> {
    const { scheduled } = this.jobs;
    if (this.registered === scheduled.size) return;
    await this.store.register(new Map([...scheduled].map(([name, { everyMs }]) => [name, everyMs])));
    this.registered = scheduled.size;
    if (this.config.redisUrl && !this.engine) await this.useRedis(this.config.redisUrl);
  }

  private async useRedis(url: string): Promise<void> {
    const due = async (id: number) => {
      const row = this.database.open ? await this.store.one(id) : undefined;
      if (row && isDue(row)) await (await this.begin(row))?.end;
    };
    this.engine = new BullEngine(url, `jobs-${await this.store.birth()}`, due, () => this.wake());
    await this.engine.start().catch((error: Error) => {
      log().error({ err: error }, 'jobs cannot be handed out by Redis; they are found in the database');
    });
  }

  private async look(): Promise<void> {
    this.looking = true;
    this.again = false;
    clearTimeout(this.timer);
    let told = false;
    let wait = LOOK_MS;
    try {
      if (this.database.open) await this.prepare();
      told = this.engine?.up ?? false;
      if (told) wait = NET_MS;
      const names = [...this.jobs.scheduled.keys(), ...this.jobs.handlers.keys()];
      const rows = this.database.open ? await this.store.next(names) : [];
      // another database may have taken the place of ours: what is scheduled has rows, always
      if (!rows.some(({ kind }) => kind === 'scheduled')) this.registered = 0;
      for (const row of rows) {
        if (isDue(row, told ? GRACE_MS : 0)) await this.begin(row);
        else if (row.state !== 'waiting') continue;
        else if (told) this.engine?.plan(row.id, row.next_at);
        else wait = Math.min(wait, Date.parse(row.next_at) - Date.now());
      }
      this.trouble = null;
    } catch (error) {
      const err = whyUnwritable(error) ?? error;
      if (!isDatabaseDown(error) && err !== this.trouble) log().error({ err }, 'jobs could not be looked for');
      this.trouble = err;
    } finally {
      this.looking = false;
      this.lookIn(this.again ? 0 : wait);
    }
  }

  /** The next look; one that was to come later is left out. */
  private lookIn(ms: number): void {
    clearTimeout(this.timer);
    if (this.stopping.signal.aborted) return;
    this.looksAt = Date.now() + Math.max(MIN_LOOK_MS, ms);
    this.timer = setTimeout(() => void this.look(), Math.max(MIN_LOOK_MS, ms)).unref();
  }

  /** What this process knows to be due then. */
  private plan(id: number, at: string): void {
    const time = Date.parse(at);
    if (this.engine?.up) this.engine.plan(id, at);
    else if (!this.looking && time < this.looksAt) this.lookIn(time - Date.now());
  }

  /** Takes a job, unless somebody else does or this process has enough, and begins it. */
  private async begin(row: DueRow): Promise<Run | null> {
    if (this.stopping.signal.aborted || this.running.has(row.id)) return null;
    const once = [...this.running.values()].filter((run) => run.once).length;
    if (this.jobs.handlers.has(row.name) && once >= PARALLEL) return null;
    const owner = newHolding();
    const ours = await this.store.claim(row, owner).catch((error: Error) => {
      HOLDINGS.delete(owner);
      throw error;
    });
    if (ours) return this.keep({ ...row, tries: row.tries + 1 }, owner);
    HOLDINGS.delete(owner);
    return null;
  }

  /** Begins the run of a job that is ours. */
  private keep(row: DueRow, owner: string): Run {
    const once = this.jobs.handlers.has(row.name);
    const end = this.run(row, owner)
      .catch((error: Error) => log().warn({ job: row.name, id: row.id, err: error.message }, 'a job is not noted'))
      .finally(() => {
        HOLDINGS.delete(owner);
        this.running.delete(row.id);
        // another one may have waited for its place
        if (once) this.wake();
      });
    const run = { end, once };
    this.running.set(row.id, run);
    return run;
  }

  private async run(row: DueRow, owner: string): Promise<void> {
    const { id, name } = row;
    let progress: string | null = null;
    let told: string | null = null;
    const lost = new AbortController();
    const renew = async () => {
      told = progress;
      // a database that is away may be back before the lease ends
      const ours = await this.store.renew(id, owner, progress).catch(() => true);
      if (!ours) lost.abort(new Error('somebody else has the job by now'));
    };
    const timers = [
      setInterval(() => void renew(), RENEW_MS).unref(),
      setInterval(() => progress !== told && void renew(), PROGRESS_MS).unref(),
    ];
    const job: JobRun = {
      id,
      attempt: row.tries,
      signal: AbortSignal.any([this.stopping.signal, lost.signal]),
      progress: (value) => {
        progress = stored(value);
      },
    };
    let ending: Ending;
    let tell: (watch: Watch) => void;
    let failure: Error | null = null;
    try {
      const result = await this.work(row, job);
      ending = { ...this.well(row), progress, result: stored(result) };
      tell = (watch) => watch.resolve(result);
    } catch (error) {
      const reason = error as Error;
      ending = { ...this.ill(row, reason), progress };
      // whoever waits is told of a failure, not of the end of this process
      tell = (watch) => (ending.error === undefined ? watch.resolve(this) : watch.reject(reason));
      if (ending.state !== 'waiting') failure = reason;
    } finally {
      for (const timer of timers) clearInterval(timer);
    }
    const watch = this.watches.get(id);
    if (watch) watch.ended = true;
    this.watches.delete(id);
    try {
      if (failure) await this.bury(row, failure, watch !== undefined);
      if (!(await this.store.end(id, owner, ending))) log().warn({ job: name, id }, 'a job was taken over meanwhile');
      else if (ending.state === 'waiting') this.plan(id, ending.nextAt);
    } finally {
      if (watch) tell(watch);
    }
  }

  private async work({ name, payload, tries }: DueRow, job: JobRun): Promise<unknown> {
    const scheduled = this.jobs.scheduled.get(name);
    if (scheduled) return scheduled.run(job.signal);
    const handler = this.jobs.handlers.get(name);
    if (!handler) throw new Error(`nobody does jobs ${name}`);
    this.stopping.signal.throwIfAborted();
    if (tries > triesOf(handler)) throw new Error('The process died at every try');
    return handler.run(JSON.parse(payload), job);
  }

  private well(row: DueRow): Ending {
    const comes = this.jobs.scheduled.has(row.name);
    return { state: comes ? 'waiting' : 'done', nextAt: comes ? this.tick(row) : now(), error: null, tries: 0 };
  }

  /** What becomes of a job that failed. */
  private ill(row: DueRow, failure: Error): Ending {
    const { id, name, tries } = row;
    const error = failure.message || failure.name;
    if (this.jobs.scheduled.has(name)) {
      log().warn({ job: name, id, err: failure }, 'a job failed');
      return { state: 'waiting', nextAt: this.tick(row), error, tries };
    }
    // cut off by the end of this process: another one goes on, and it was no try
    if (this.stopping.signal.aborted) return { state: 'waiting', nextAt: now(), tries: tries - 1 };
    const handler = this.jobs.handlers.get(name);
    const delay = DELAYS[Math.min(tries, DELAYS.length) - 1] ?? 0;
    const told = this.watches.has(id);
    const over = told || !handler || tries >= triesOf(handler) || !(handler.retry?.(failure) ?? true);
    const words = over ? 'a job failed' : 'a job failed; it will be tried again';
    log().warn({ job: name, id, tries, err: error }, words);
    // who waited knows: nobody has to look after it
    const state = told ? 'done' : over ? 'failed' : 'waiting';
    return { state, nextAt: over ? now() : now(delay), error, tries };
  }

  private async bury({ id, name, payload }: DueRow, failure: Error, told: boolean): Promise<void> {
    try {
      await this.jobs.handlers.get(name)?.dead?.(JSON.parse(payload), failure, told);
    } catch (error) {
      log().error({ job: name, id, err: error }, 'the failure of a job could not be told');
    }
  }

  /** The next tick of a scheduled job, in step with the one that was due; those that were missed are left out. */
  private tick({ name, state, next_at }: DueRow): string {
    const every = this.jobs.scheduled.get(name)?.everyMs ?? HOUR_MS;
    const from = state === 'waiting' ? Date.parse(next_at) : Date.now();
    const missed = Math.max(0, Math.floor((Date.now() - from) / every));
    return now(from + (missed + 1) * every - Date.now());
  }
}
