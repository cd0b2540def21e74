import { after, every, monotonicMs, now, timeMs } from '../common/clock.js';
import { requestDeadline, withoutDeadline } from '../common/deadline.js';
import { errors } from '../common/errors.js';
import { FairPool, type Share } from '../common/fair-pool.js';
import type { Logger } from '../common/logger.js';
import { HOLDINGS, newHolding } from '../database/process-name.js';
import type { Events, JobNews } from '../events/events.js';
import type { Traces } from '../traces/traces.js';
import type { JobQueue } from './job-queue.service.js';
import { type DueRow, stored, subjectOf } from './job-state.js';
import type { Handler, JobRun, Jobs, Started } from './jobs.js';
import type { Ending, JobsRepository } from './jobs.repository.js';

const RENEW_MS = 10_000;
const PROGRESS_MS = 1000;
const HOUR_MS = 3_600_000;

/** ms until the next try, after each failure */
const DELAYS = [10_000, 60_000, 300_000, 1_800_000, 7_200_000];

const triesOf = ({ tries = DELAYS.length + 1 }: Handler): number => tries;

/** A caller that waits for the end of a job. */
interface Watch {
  /** it is about to get the result */
  ended: boolean;
  resolve: (result: unknown) => void;
  reject: (error: Error) => void;
}

/** A run in this process. */
export interface Run {
  end: Promise<void>;
  once: boolean;
}

/** The runner, as its runs see it. */
export interface Looker {
  /** there may be a job that is due */
  wake(): void;
  /** a job will be due at this moment */
  plan(id: number, at: string): void;
}

/** The runs of this process, from the claim of a row to what is written of its end. */
export class JobRuns {
  private readonly running = new Map<number, Run>();
  /** of jobs that run once: scheduled jobs need no slot */
  private readonly pool = new FairPool('jobs');
  /** claimed, but not in `running` yet */
  private readonly starting = new Set<Promise<unknown>>();
  private readonly watches = new Map<number, Watch>();

  /**
   * @param stopping aborted when this process ends: its runs begin again in another one
   * @param halted why this process may not run jobs now; null: it may
   */
  constructor(
    private readonly jobs: Jobs,
    private readonly queue: JobQueue,
    private readonly repository: JobsRepository,
    private readonly looker: Looker,
    private readonly stopping: AbortSignal,
    private readonly events: Events,
    private readonly traces: Traces,
    private readonly logger: Logger,
    private readonly halted: () => string | null,
  ) {}

  /** Resolves when nothing runs any more. */
  async ended(): Promise<void> {
    await Promise.allSettled(this.starting);
    await Promise.all([...this.running.values()].map(({ end }) => end));
  }

  /** Begins a job for a caller that waits for so long, but no longer than its request; see `Jobs.start`. */
  async start<T>(name: string, payload: unknown, key: string | null, waitMs: number): Promise<Started<T>> {
    if (this.stopping.aborted) throw errors.notReady('about_to_end', 5);
    const halted = this.halted();
    if (halted) throw errors.notReady('halted', undefined, { words: halted });
    const left = Math.max(0, requestDeadline().work - monotonicMs());
    const taken = this.take<T>(name, payload, key, Math.min(waitMs, left));
    this.starting.add(taken);
    const { ended } = await taken.finally(() => this.starting.delete(taken));
    return ended;
  }

  /** Claims a job and begins it, unless another process does or there is no free slot for it. */
  async begin(row: DueRow): Promise<Run | null> {
    if (this.stopping.aborted || this.halted() || this.running.has(row.id)) return null;
    const release = this.slot(row.name, JSON.parse(row.payload), row.id);
    // the job stays due until there is a slot
    if (!release) return null;
    const owner = newHolding();
    const ours = await this.repository.claim(row, owner).catch((error: Error) => {
      HOLDINGS.delete(owner);
      release();
      throw error;
    });
    if (ours) return this.keep({ ...row, tries: row.tries + 1 }, owner, release);
    HOLDINGS.delete(owner);
    release();
    return null;
  }

  /**
   * A slot for a job that runs once; scheduled jobs need none.
   * @param id left out where the job has no row yet
   * @returns frees the slot; null: there is none
   */
  private slot(name: string, payload: unknown, id?: number): (() => void) | null {
    const handler = this.jobs.handlers.get(name);
    if (!handler) return () => undefined;
    const share: Share = { user: handler.user?.(payload) ?? null, ...(id !== undefined && { target: id }) };
    return this.pool.isFull(share) ? null : this.pool.take(share);
  }

  /**
   * Takes a job for a caller that waits, and begins it; without a free slot the first process that has one does.
   * @returns the result for the caller, not waited for here
   */
  private async take<T>(
    name: string,
    payload: unknown,
    key: string | null,
    waitMs: number,
  ): Promise<{ ended: Promise<Started<T>> }> {
    const release = this.slot(name, payload);
    if (!release) {
      const { id } = this.unlessItRuns(await this.queue.put(name, payload, key, null));
      this.looker.wake();
      return { ended: Promise.resolve({ id, ended: false }) };
    }
    const owner = newHolding();
    const begun = this.queue.put(name, payload, key, owner).then((put) => this.unlessItRuns(put));
    const row = await begun.catch((error: Error) => {
      HOLDINGS.delete(owner);
      release();
      throw error;
    });
    const { id } = row;
    const ended = new Promise<Started<T>>((resolve, reject) => {
      const cancel = after(waitMs, () => {
        if (watch.ended) return;
        this.watches.delete(id);
        resolve({ id, ended: false });
      });
      const watch: Watch = {
        ended: false,
        resolve: (result) => {
          cancel();
          resolve(result === this ? { id, ended: false } : { id, ended: true, result: result as T });
        },
        reject: (error) => {
          cancel();
          reject(error);
        },
      };
      if (waitMs > 0) this.watches.set(id, watch);
    });
    this.keep(row, owner, release);
    return { ended };
  }

  /** @throws AppError 409001 */
  private unlessItRuns(put: DueRow | { runs: number }): DueRow {
    if ('runs' in put) throw errors.conflict('job_runs', {}, { job_id: put.runs });
    return put;
  }

  /** Begins the run of a job that was claimed. */
  private keep(row: DueRow, owner: string, release: () => void): Run {
    const once = this.jobs.handlers.has(row.name);
    // the run goes on after its request is answered
    const end = withoutDeadline(() => this.run(row, owner))
      .catch((error: Error) =>
        this.logger.warn({ job: row.name, id: row.id, err: error.message }, 'a job is not noted'),
      )
      .finally(() => {
        HOLDINGS.delete(owner);
        this.running.delete(row.id);
        release();
        // another job may wait for its slot
        if (once) this.looker.wake();
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
      if (progress !== told) this.tell(row, { what: 'progress', progress: progress && JSON.parse(progress) });
      told = progress;
      // an unavailable database may be back before the lease ends
      const ours = await this.repository.renew(id, owner, progress).catch(() => true);
      if (!ours) lost.abort(new Error('somebody else has the job by now'));
    };
    const cancels = [
      every(RENEW_MS, () => void renew()),
      every(PROGRESS_MS, () => {
        if (this.halted()) lost.abort(new Error('this process may not go on'));
        if (progress !== told) void renew();
      }),
    ];
    const job: JobRun = {
      id,
      attempt: row.tries,
      before: row.progress ? JSON.parse(row.progress) : null,
      signal: AbortSignal.any([this.stopping, lost.signal]),
      progress: (value) => {
        progress = stored(value);
      },
    };
    this.tell(row, { what: 'started', attempt: row.tries });
    let ending: Ending;
    let tell: (watch: Watch) => void;
    let failure: Error | null = null;
    try {
      const attributes = { 'job.id': id, 'job.attempt': row.tries };
      const result = await this.traces.span(`job ${name}`, { place: 'root', attributes }, () => this.work(row, job));
      ending = { ...this.well(row), progress, result: stored(result) };
      tell = (watch) => watch.resolve(result);
    } catch (error) {
      const reason = error as Error;
      ending = { ...this.ill(row, reason), progress };
      // the caller gets a failure of the job, but not the end of this process
      tell = (watch) => (ending.error === undefined ? watch.resolve(this) : watch.reject(reason));
      if (ending.state !== 'waiting') failure = reason;
    } finally {
      for (const cancel of cancels) cancel();
    }
    const watch = this.watches.get(id);
    if (watch) watch.ended = true;
    this.watches.delete(id);
    try {
      if (failure) await this.bury(row, failure, watch !== undefined);
      if (!(await this.repository.end(id, owner, ending)))
        this.logger.warn({ job: name, id }, 'a job was taken over meanwhile');
      else {
        this.tellEnd(row, ending);
        if (ending.state === 'waiting') this.looker.plan(id, ending.nextAt);
      }
    } finally {
      if (watch) tell(watch);
    }
  }

  private tellEnd(row: DueRow, { state, error, nextAt, result }: Ending): void {
    if (error === null) this.tell(row, { what: 'done', result: result ? JSON.parse(result) : null });
    else if (error) this.tell(row, { what: 'failed', error, retry_at: state === 'waiting' ? nextAt : null });
  }

  /** Emits what happened; of scheduled jobs only that they begin to fail, and that they succeed again. */
  private tell(row: DueRow, news: Omit<JobNews, 'job_id' | 'name' | 'subject'>): void {
    // by the last error, not by tries: a run whose process was killed counts as a try, but was no failure
    const worth = this.jobs.handlers.has(row.name) || news.what === (row.last_error === null ? 'failed' : 'done');
    if (worth)
      void this.events.emit('job.changed', { ...news, job_id: row.id, name: row.name, subject: subjectOf(row) });
  }

  private async work({ name, payload, tries }: DueRow, job: JobRun): Promise<unknown> {
    const scheduled = this.jobs.scheduled.get(name);
    if (scheduled) return scheduled.run(job.signal);
    const handler = this.jobs.handlers.get(name);
    if (!handler) throw new Error(`nobody does jobs ${name}`);
    this.stopping.throwIfAborted();
    if (tries > triesOf(handler)) throw new Error('The process died at every try');
    return handler.run(JSON.parse(payload), job);
  }

  private well(row: DueRow): Ending {
    const comes = this.jobs.scheduled.has(row.name);
    return { state: comes ? 'waiting' : 'done', nextAt: comes ? this.tick(row) : now(), error: null, tries: 0 };
  }

  /** How a run with an error ends. */
  private ill(row: DueRow, failure: Error): Ending {
    const { id, name, tries } = row;
    const error = failure.message || failure.name;
    if (this.halted()) return { state: 'waiting', nextAt: now(), tries: tries - 1 };
    if (this.jobs.scheduled.has(name)) {
      this.logger.warn({ job: name, id, err: failure }, 'a job failed');
      return { state: 'waiting', nextAt: this.tick(row), error, tries };
    }
    // cut off by the end of this process: another one goes on, and the run does not count as a try
    if (this.stopping.aborted) return { state: 'waiting', nextAt: now(), tries: tries - 1 };
    const handler = this.jobs.handlers.get(name);
    const delay = DELAYS[Math.min(tries, DELAYS.length) - 1] ?? 0;
    const told = this.watches.has(id);
    const over = told || !handler || tries >= triesOf(handler) || !(handler.retry?.(failure) ?? true);
    const words = over ? 'a job failed' : 'a job failed; it will be tried again';
    this.logger.warn({ job: name, id, tries, err: error }, words);
    // the caller has the error: nobody else has to look after the job
    const state = told ? 'done' : over ? 'failed' : 'waiting';
    return { state, nextAt: over ? now() : now(delay), error, tries };
  }

  private async bury({ id, name, payload }: DueRow, failure: Error, told: boolean): Promise<void> {
    try {
      await this.jobs.handlers.get(name)?.dead?.(JSON.parse(payload), failure, told);
    } catch (error) {
      this.logger.error({ job: name, id, err: error }, 'the failure of a job could not be told');
    }
  }

  /** The next tick of a scheduled job, in step with the one that was due; ticks that were missed are left out. */
  private tick({ name, state, next_at }: DueRow): string {
    const every = this.jobs.scheduled.get(name)?.everyMs ?? HOUR_MS;
    const from = state === 'waiting' ? Math.min(Date.parse(next_at), timeMs()) : timeMs();
    const missed = Math.max(0, Math.floor((timeMs() - from) / every));
    return now(from + (missed + 1) * every - timeMs());
  }
}
