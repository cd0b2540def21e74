import { Injectable } from '@nestjs/common';
import { errors } from '../common/errors.js';
import type { Owner } from '../common/fair-pool.js';
import { JobQueue } from './job-queue.service.js';
import { JobsRepository } from './jobs.repository.js';

/** A job that runs at an interval. */
export interface Scheduled {
  everyMs: number;
  run: (signal: AbortSignal) => Promise<void>;
  /** of a job with long runs: why its work has stopped although it runs; null: it has not */
  stopped: () => Promise<string | null>;
}

/** A run, as its handler sees it. */
export interface JobRun {
  id: number;
  /** 1 for the first try */
  attempt: number;
  /** progress of an earlier run that did not end; null: the run begins at the beginning */
  before: object | null;
  /** reports progress, which is stored with the job once a second at most */
  progress(value: object): void;
  /** aborted when this process ends, or has lost the job: throw, and another process begins the job again */
  signal: AbortSignal;
}

/** How jobs of one name are done that run once. */
export interface Handler<P = unknown> {
  /** @returns its result, which is stored with the job */
  run: (payload: P, job: JobRun) => Promise<unknown>;
  /** whose slots it takes; left out: nobody's */
  user?: (payload: P) => Owner;
  /** how often it is tried, with growing delays; left out: six times in about three hours */
  tries?: number;
  /** whether another try may succeed; left out: always */
  retry?: (error: Error) => boolean;
  /** called after the last try. @param told a caller waits for the job, and gets the error */
  dead?: (payload: P, error: Error, told: boolean) => Promise<void>;
}

/** A job that a caller waits for: ended, or going on. */
export type Started<T> = { id: number; ended: true; result: T } | { id: number; ended: false };

/** Runs the jobs, in the service. */
export interface JobWorker {
  /** there may be a job that is due */
  wake(): void;
  start<T>(name: string, payload: unknown, key: string | null, waitMs: number): Promise<Started<T>>;
}

/**
 * Work in the background: scheduled, or continued after the answer to its request. Jobs are registered here, and run by
 * `JobRunner` in the service only, so that the commands for administrators can use rooms that have jobs. When the
 * process of a run died, or could not reach the database for the length of a lease, another one begins the run again:
 * jobs have to bear that. No secrets in payloads, progress and results.
 */
@Injectable()
export class Jobs {
  readonly scheduled = new Map<string, Scheduled>();
  readonly handlers = new Map<string, Handler>();
  private worker: JobWorker | null = null;

  constructor(
    private readonly queue: JobQueue,
    private readonly repository: JobsRepository,
  ) {}

  /**
   * Call it in `onModuleInit`. Runs `run` every `everyMs` on ONE process of the installation (first soon after the
   * database opened, the first time that there is such a job). A failure is logged, kept as the job's last error, and
   * tried again at the next tick. The signal says that this process ends, or has lost the job to another one.
   * @param stopped see `Scheduled`
   */
  schedule(
    name: string,
    everyMs: number,
    run: (signal: AbortSignal) => Promise<void>,
    stopped: Scheduled['stopped'] = async () => null,
  ): void {
    this.assertNew(name);
    this.scheduled.set(name, { everyMs, run, stopped });
  }

  /** Call it in `onModuleInit`. Registers the handler of jobs that run once. */
  handle<P>(name: string, handler: Handler<P>): void {
    this.assertNew(name);
    this.handlers.set(name, handler as Handler);
  }

  /**
   * A job to be run once, by any process, soon. Not within a transaction: on SQLite it would wait for that one.
   * @param key one with the same that has ended begins anew, one that waits is left as it is, one that runs is run once
   * more afterwards
   * @returns its id
   */
  async enqueue(name: string, payload: unknown, key: string | null = null): Promise<number> {
    const id = await this.queue.enqueue(name, payload, key);
    this.worker?.wake();
    return id;
  }

  /**
   * Begins a job in this process, and waits for it for so long; then it goes on in the background. Without a free slot
   * in this process it is not waited for, and begins where there is one. A failure while the caller waits is thrown
   * here, and not tried again: the job has ended as `done`, with its `last_error`.
   * @throws AppError 409001 while one with the same key runs; the job's own error
   */
  async start<T>(name: string, payload: unknown, key: string | null, waitMs: number): Promise<Started<T>> {
    if (!this.worker) throw new Error('jobs are done by the service');
    return this.worker.start<T>(name, payload, key, waitMs);
  }

  /** A job that failed, or waits, is due now. @throws AppError 409001 */
  async again(id: number): Promise<void> {
    if (!(await this.repository.again(id))) throw errors.conflict('job_not_startable');
    this.worker?.wake();
  }

  /** For `JobRunner`. */
  attach(worker: JobWorker): void {
    this.worker = worker;
  }

  private assertNew(name: string): void {
    if (this.scheduled.has(name) || this.handlers.has(name)) throw new Error(`there are two jobs ${name}`);
  }
}
