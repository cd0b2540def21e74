import { Injectable } from '@nestjs/common';

/** A job that comes again and again. */
export interface Scheduled {
  everyMs: number;
  run: () => Promise<void>;
}

/**
 * What is done by itself. Others say here what there is to do; `JobRunner` does it, in the service only, so that a
 * command of the administration may stand on rooms that have jobs.
 */
@Injectable()
export class Jobs {
  readonly scheduled = new Map<string, Scheduled>();

  /**
   * Call it in `onModuleInit`. Runs `run` every `everyMs` on ONE process of the installation (first soon after the
   * database opened, the first time there is such a job). A failure is logged, kept as the job's last error, and tried
   * again at the next tick. A run may be begun again elsewhere when its process died, or could not reach the database
   * for the length of a lease: what it does has to bear that.
   */
  schedule(name: string, everyMs: number, run: () => Promise<void>): void {
    if (this.scheduled.has(name)) throw new Error(`there are two jobs ${name}`);
    this.scheduled.set(name, { everyMs, run });
  }
}
