import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { type Cancel, every } from '../common/clock.js';
import { Logger } from '../common/logger.js';
import { DatabaseService } from '../database/database.service.js';
import { isDatabaseDown } from '../database/db.js';
import { Events } from '../events/events.js';
import { JobReader } from './job-reader.service.js';
import { JobsRepository } from './jobs.repository.js';

/** ms between two looks; a job has stopped when both find so: right after a start late jobs are about to run */
const LOOK_MS = 10_000;

/**
 * Reports scheduled jobs that have stopped, once for all processes. Each process looks, since a job could stop, too.
 */
@Injectable()
export class StopWatch implements OnModuleInit, OnApplicationShutdown {
  private stopLooking: Cancel | undefined;
  private seen = new Set<number>();

  constructor(
    private readonly database: DatabaseService,
    private readonly reader: JobReader,
    private readonly repository: JobsRepository,
    private readonly events: Events,
    private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    this.stopLooking = every(LOOK_MS, () => {
      void this.look().catch((error: Error) => {
        if (!isDatabaseDown(error))
          this.logger.warn({ err: error.message }, 'jobs that stopped could not be looked for');
      });
    });
  }

  onApplicationShutdown(): void {
    this.stopLooking?.();
  }

  private async look(): Promise<void> {
    if (!this.database.open || this.database.unfit) return;
    const stopped = await this.reader.stopped();
    for (const { id, name, stopped_at } of await this.repository.scheduled()) {
      const found = stopped.get(id);
      if (!found && stopped_at !== null && (await this.repository.noteStop(id, null)))
        this.logger.info({ job: name }, 'a job that had stopped goes on');
      if (!found || stopped_at !== null || !this.seen.has(id) || !(await this.repository.noteStop(id, found.since)))
        continue;
      const { reason, since } = found;
      this.logger.error({ job: name, id, reason }, 'a job has stopped');
      await this.events.emit('notice', {
        event: 'job.stopped',
        text: `The job ${name} has stopped: ${reason}`,
        details: { job: name, job_id: id, since },
      });
    }
    this.seen = new Set(stopped.keys());
  }
}
