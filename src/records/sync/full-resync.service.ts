import { Injectable, type OnModuleInit } from '@nestjs/common';
import { RecordSyncService } from '../../changes/in-doubt/record-sync.service.js';
import { DomainsRepository } from '../../domains/domains.repository.js';
import { DomainsService } from '../../domains/domains.service.js';
import { monotonicMs, sleep } from '../../platform/common/clock.js';
import { requestDeadline } from '../../platform/common/deadline.js';
import { AppError } from '../../platform/common/errors.js';
import { Logger } from '../../platform/common/logger.js';
import { JobReader } from '../../platform/jobs/job-reader.service.js';
import { type JobRun, Jobs } from '../../platform/jobs/jobs.js';

const JOB = 'records.read-anew';
/** ms between two looks whether it has ended, for a caller that waits */
const LOOK_MS = 500;

/** Progress, as the job shows it; another process continues after `last`. */
interface Progress {
  domains: number;
  done: number;
  failed: number;
  /** id of the last domain that was read */
  last: number;
}

/** Reads the records of all domains at their providers, one after the other, for when the cache is not trusted. */
@Injectable()
export class FullResync implements OnModuleInit {
  constructor(
    private readonly repository: DomainsRepository,
    private readonly jobs: Jobs,
    private readonly reader: JobReader,
    private readonly domains: DomainsService,
    private readonly sync: RecordSyncService,
    private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    this.jobs.handle(JOB, { run: (_payload, job) => this.run(job) });
  }

  /**
   * Asks for it, and waits for its end for so long, but no longer than the request has.
   * @param isGone whether the caller waits no more
   * @returns the job, how many cached records are compared with their providers, and when it ended; null: it goes on
   */
  async begin(
    waitMs: number,
    isGone: () => boolean,
  ): Promise<{ records: number; job_id: number; ended_at: string | null }> {
    const until = Math.min(monotonicMs() + waitMs, requestDeadline().work);
    const rows = await this.repository.active();
    const records = rows.reduce((sum, row) => sum + row.records_count, 0);
    const job_id = await this.jobs.enqueue(JOB, null, JOB);
    for (;;) {
      const { state, ended_at } = await this.reader.get(job_id);
      if (state === 'done' || state === 'failed') return { records, job_id, ended_at };
      const left = until - monotonicMs();
      if (left <= 0 || isGone()) return { records, job_id, ended_at: null };
      await sleep(Math.min(LOOK_MS, left));
    }
  }

  private async run(job: JobRun): Promise<{ domains: number; failed: number }> {
    const ids = (await this.repository.active()).map(({ id }) => id);
    const progress = { domains: ids.length, done: 0, failed: 0, last: 0, ...(job.before as Partial<Progress> | null) };
    for (const id of ids.filter((one) => one > progress.last)) {
      job.signal.throwIfAborted();
      const domain = await this.domains.reload(id).catch((error: unknown) => {
        // it was deleted meanwhile
        if (error instanceof AppError) return null;
        throw error;
      });
      try {
        if (domain) await this.sync.refresh(domain, 'system');
      } catch (error) {
        progress.failed += 1;
        this.logger.warn({ domain: id, err: (error as Error).message }, 'records could not be read anew');
      }
      progress.done += 1;
      progress.last = id;
      job.progress(progress);
    }
    return { domains: progress.done, failed: progress.failed };
  }
}
