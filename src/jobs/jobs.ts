import { Injectable } from '@nestjs/common';
import { errors } from '../common/errors.js';
import type { Owner } from '../common/fair-pool.js';
import { JobQueue } from './job-queue.service.js';
import { JobsRepository } from './jobs.repository.js';

/** A job that comes again and again. */
export interface Scheduled {
  everyMs: number;
  run: (signal: AbortSignal) => Promise<void>;
  /** for one that goes on for long: why what it does has stopped although it runs; null: it has not */
  stopped: () => Promise<string | null>;
}

/** What a run of a job can say and ask. */
export interface JobRun {
  id: number;
  /** 1 for the first try */
  attempt: number;
  /** how far another run came that did not get to its end; null: it begins at the beginning */
  before: object | null;
  /** how far it is: kept with the job, once a second at most */
  progress(value: object): void;
  /** aborted when this process ends, or has lost the job: throw, and another process begins it again */
  signal: AbortSignal;
}

/** How a kind of job is done that is done once. */
export interface Handler<P = unknown> {
  /** @returns what came of it, kept with the job */
  run: (payload: P, job: JobRun) => Promise<unknown>;
  /** whose places it takes; left out: nobody's */
  user?: (payload: P) => Owner;
  /** how often it is tried, with growing delays; left out: six times in about three hours */
  tries?: number;
  /** whether it may end well another time; left out: always */
  retry?: (error: Error) => boolean;
  /** after the last try; `told`: who asked for it waits, and is told */
  dead?: (payload: P, error: Error, told: boolean) => Promise<void>;
}

/** A job that was begun for somebody who waits: ended, or going on. */
export type Started<T> = { id: number; ended: true; result: T } | { id: number; ended: false };

/** What does the jobs, in the service. */
export interface JobWorker {
  /** there is something to do, perhaps */
  wake(): void;
  start<T>(name: string, payload: unknown, key: string | null, waitMs: number): Promise<Started<T>>;
}

/**
 * What is done by itself, or goes on after its answer. Others say here what there is to do; `JobRunner` does it, in the
 * service only, so that a command of the administration may stand on rooms that have jobs. A run may be begun again
 * elsewhere when its process died, or could not reach the database for the length of a lease: what it does has to bear
 * that. No secrets in payloads, progress and results.
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

  /** Call it in `onModuleInit`. Says how jobs of a name are done that are done once. */
  handle<P>(name: string, handler: Handler<P>): void {
    this.assertNew(name);
    this.handlers.set(name, handler as Handler);
  }

  /**
   * A job to be done once, by any process, soon. Not within a transaction: on SQLite it would wait for that one.
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
   * Begins a job in this process, and waits for it for so long; then it goes on by itself. Without a place for it here
   * it is not waited for: it begins where there is one. While somebody waits, a failure is theirs, and the last: such a
   * job has ended as `done`, with its `last_error`.
   * @throws AppError 409001 while one with the same key runs; the job's own error
   */
  async start<T>(name: string, payload: unknown, key: string | null, waitMs: number): Promise<Started<T>> {
    if (!this.worker) throw new Error('jobs are done by the service');
    return this.worker.start<T>(name, payload, key, waitMs);
  }

  /** One that failed begins anew, one that waits does not wait any longer. @throws AppError 409001 */
  async again(id: number): Promise<void> {
    if (!(await this.repository.again(id)))
      throw errors.conflict('Only a job that failed, or waits, can be started again');
    this.worker?.wake();
  }

  /** For the one that does them. */
  attach(worker: JobWorker): void {
    this.worker = worker;
  }

  private assertNew(name: string): void {
    if (this.scheduled.has(name) || this.handlers.has(name)) throw new Error(`there are two jobs ${name}`);
  }
}
