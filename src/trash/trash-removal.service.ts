import { Injectable, type OnModuleInit } from '@nestjs/common';
import { TrashedRecords } from '../cache/trashed-records.repository.js';
import { RemovedHistory } from '../changes/history/removed-history.repository.js';
import { now } from '../platform/common/clock.js';
import { AppError } from '../platform/common/errors.js';
import { Leases } from '../platform/database/leases.js';
import { Jobs } from '../platform/jobs/jobs.js';
import { PURGE, Trash } from './trash.service.js';
import { trashLock } from './trash-lock.js';
import { TrashedDomainsRepository } from './trashed-domains.repository.js';

const SWEEP_MS = 600_000;
/** domains that are looked for at once */
const SOME = 50;
/** ms that the removal of a copy waits for who is at it: it is done the next time, too */
const WAIT_MS = 1000;

/** Removes what the trash keeps no longer, in pieces. A process that dies leaves it to the next run. */
@Injectable()
export class TrashRemoval implements OnModuleInit {
  constructor(
    private readonly jobs: Jobs,
    private readonly leases: Leases,
    private readonly trash: Trash,
    private readonly rows: TrashedDomainsRepository,
    private readonly records: TrashedRecords,
    private readonly history: RemovedHistory,
  ) {}

  onModuleInit(): void {
    this.jobs.schedule('trash.sweep', SWEEP_MS, (signal) => this.sweep(signal));
    this.jobs.handle(PURGE, { run: (_payload, { signal }) => this.sweep(signal) });
  }

  /** Purges domains whose time is over, or of which somebody said so, and removes copies that nobody needs. */
  async sweep(signal: AbortSignal): Promise<void> {
    for (;;) {
      const due = await this.rows.due(now(), SOME);
      for (const row of due) {
        signal.throwIfAborted();
        // somebody may have restored it meanwhile
        if (row.leaving || (await this.trash.leave('system', row, now()))) await this.purge(row.id, signal);
      }
      if (due.length < SOME) break;
    }
    await this.removeCopies(signal);
  }

  /** In this order, since the row is what a later run finds. */
  private async purge(id: number, signal: AbortSignal): Promise<void> {
    await this.history.remove(id, signal);
    await this.records.clear(id);
    await this.rows.remove(id);
  }

  /** Copies of a deletion that was not done in the end, of domains that are back, and of accounts that are gone. */
  private async removeCopies(signal: AbortSignal): Promise<void> {
    for (let id = await this.records.nextDomain(0); id !== null; id = await this.records.nextDomain(id)) {
      signal.throwIfAborted();
      const domain = id;
      if (await this.rows.has(domain)) continue;
      const work = async () => ((await this.rows.has(domain)) ? undefined : this.records.clear(domain));
      await this.leases.hold([trashLock(domain)], WAIT_MS, work).catch((error: unknown) => {
        // it is being deleted just now
        if (!(error instanceof AppError)) throw error;
      });
    }
  }
}
