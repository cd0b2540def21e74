import { type BeforeApplicationShutdown, Injectable, type OnModuleInit } from '@nestjs/common';
import { now, within } from '../common/clock.js';
import { log } from '../common/logger.js';
import { DatabaseService } from '../database/database.service.js';
import { isDatabaseDown } from '../database/db.js';
import { HOLDINGS, newHolding } from '../database/process-name.js';
import { Events } from '../events/events.js';
import { type DueRow, type Ending, isDue, JobStore } from './job-store.js';
import { Jobs } from './jobs.js';

/** ms between two looks at most, and at least */
const LOOK_MS = 1000;
const MIN_LOOK_MS = 20;
const RENEW_MS = 10_000;
/** ms that the end waits for what runs: it is begun again elsewhere when it is cut off */
const STOP_WAIT_MS = 5000;

/** Does the jobs: all processes look, and the one whose compare-and-set takes a job has it. */
@Injectable()
export class JobRunner implements OnModuleInit, BeforeApplicationShutdown {
  private readonly running = new Map<number, Promise<void>>();
  private timer: NodeJS.Timeout | undefined;
  private opened = false;
  private looking = false;
  private stopped = false;

  constructor(
    private readonly jobs: Jobs,
    private readonly store: JobStore,
    private readonly database: DatabaseService,
    private readonly events: Events,
  ) {}

  onModuleInit(): void {
    this.events.on('database.opened', async () => {
      if (this.opened || this.stopped) return;
      this.opened = true;
      await this.store.register(new Map([...this.jobs.scheduled].map(([name, { everyMs }]) => [name, everyMs])));
      void this.look();
    });
  }

  /** Before the others' shutdown, which closes the database: what was done must be noted. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await within(Promise.all(this.running.values()), STOP_WAIT_MS);
  }

  private async look(): Promise<void> {
    if (this.looking || this.stopped) return;
    this.looking = true;
    clearTimeout(this.timer);
    let wait = LOOK_MS;
    try {
      if (this.database.open) {
        const rows = await this.store.next([...this.jobs.scheduled.keys()]);
        for (const row of rows) {
          if (isDue(row)) await this.begin(row);
          else if (row.state === 'waiting') wait = Math.min(wait, Date.parse(row.next_at) - Date.now());
        }
      }
    } catch (error) {
      if (!isDatabaseDown(error)) log().error({ err: error }, 'jobs could not be looked for');
    } finally {
      this.looking = false;
      if (!this.stopped) this.timer = setTimeout(() => void this.look(), Math.max(MIN_LOOK_MS, wait)).unref();
    }
  }

  /** Takes a job, unless somebody else does, and begins it. */
  private async begin(row: DueRow): Promise<void> {
    if (this.stopped || this.running.has(row.id)) return;
    const owner = newHolding();
    if (!(await this.store.claim(row, owner).catch(() => false))) {
      HOLDINGS.delete(owner);
      return;
    }
    const run = this.run(row, owner).finally(() => {
      this.running.delete(row.id);
      HOLDINGS.delete(owner);
    });
    this.running.set(row.id, run);
  }

  private async run(row: DueRow, owner: string): Promise<void> {
    const { id, name } = row;
    const renewal = setInterval(() => void this.store.renew(id, owner, null).catch(() => false), RENEW_MS).unref();
    const begun = Date.now();
    let ending: Ending;
    try {
      await this.jobs.scheduled.get(name)?.run();
      ending = { state: 'waiting', nextAt: this.tick(row), error: null, tries: 0 };
    } catch (error) {
      log().warn({ job: name, id, ms: Date.now() - begun, err: error }, 'a job failed');
      ending = { state: 'waiting', nextAt: this.tick(row), error: (error as Error).message, tries: row.tries + 1 };
    } finally {
      clearInterval(renewal);
    }
    try {
      if (!(await this.store.end(id, owner, ending))) log().warn({ job: name, id }, 'a job was taken over meanwhile');
    } catch (error) {
      log().warn({ job: name, id, err: (error as Error).message }, 'the end of a job could not be noted');
    }
  }

  /** The next tick of a scheduled job, in step with the one that was due; those that were missed are left out. */
  private tick({ name, state, next_at }: DueRow): string {
    const every = this.jobs.scheduled.get(name)?.everyMs ?? LOOK_MS;
    const from = state === 'waiting' ? Date.parse(next_at) : Date.now();
    const missed = Math.max(0, Math.floor((Date.now() - from) / every));
    return now(from + (missed + 1) * every - Date.now());
  }
}
