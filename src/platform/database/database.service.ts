import { hostname } from 'node:os';
import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { after, type Cancel, clockOffsetMs, isClockOff, sleep, within } from '../common/clock.js';
import { Logger } from '../common/logger.js';
import { StartRefused } from '../common/start-refused.js';
import { readChoice, writeChoice } from '../config/choice-file.js';
import type { Config, DatabaseChoice } from '../config/config.js';
import { CONFIG } from '../config/config.module.js';
import { Events } from '../events/events.js';
import { Metrics } from '../metrics/metrics.js';
import { AppDataSource } from './app-data-source.js';
import { DatabaseClock } from './clock.js';
import { isDatabaseDown, isDatabaseSlow } from './db.js';
import { failureWords } from './failure-words.js';
import { whyUnfit } from './schema-watch.js';
import { SealedValues } from './sealed-values.js';

const RETRY_MS = 2000;
/** ms between two looks at the clock of the database, and at what became of its schema */
const LOOK_MS = 3000;
/** ms that the end of the process waits for the database */
const STOP_WAIT_MS = 3000;

/** Opens the database of the environment or of the setup flow, and keeps trying while it is down. */
@Injectable()
export class DatabaseService implements OnModuleInit, OnApplicationShutdown {
  private choice: DatabaseChoice | null = null;
  private cancelRetry: Cancel | undefined;
  private opening: Promise<void> | null = null;
  private stopped = false;
  private accepted = false;
  private mayLack = false;
  private readonly clock: DatabaseClock;
  private watching = false;
  private clockTold = false;
  /** why this program does not fit to the schema any more; null: it does */
  unfit: string | null = null;
  /** what is done before anybody is told that the database is open */
  readonly beforeOpened: (() => Promise<void>)[] = [];
  /** what else is looked at every few seconds */
  readonly looks: (() => Promise<void>)[] = [];
  /** why the database cannot be opened, in words that say nothing of it; null: it can, or nobody has tried */
  trouble: string | null = null;
  /** what ends the process when a database that was down at the start turns out to be one to refuse */
  whenRefused: () => void = () => undefined;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly source: AppDataSource,
    private readonly events: Events,
    private readonly sealed: SealedValues,
    private readonly metrics: Metrics,
    private readonly logger: Logger,
  ) {
    this.clock = new DatabaseClock(source);
  }

  /** A database was named, by the environment or by the setup flow; it may be down. */
  get configured(): boolean {
    return this.choice !== null;
  }

  /** Connected and migrated, and its secrets can be decrypted. */
  get open(): boolean {
    return this.source.ready && this.accepted;
  }

  onModuleInit(): void {
    this.metrics.provide('zoneward_database_connections', () => this.source.connections());
    this.metrics.provide('zoneward_clock_offset_seconds', () => ({ database: clockOffsetMs() / 1000 }));
    const embedded: DatabaseChoice = { type: 'sqlite', path: `${this.config.dataDir}/zoneward.db` };
    this.choice = this.config.database ?? readChoice(this.config.dataDir);
    if (!this.choice && this.config.admin) {
      // an unattended install; kept like a choice of the setup flow, so that a start without the variables finds it
      this.choice = embedded;
      writeChoice(this.config.dataDir, embedded);
    }
  }

  /**
   * First attempt at start, before the service listens; later ones in the background.
   * @param mayLack secrets may be there whose key is not: for who looks after them
   * @throws StartRefused
   */
  async start(mayLack = false): Promise<void> {
    if (!this.choice) return;
    this.mayLack = mayLack;
    try {
      await this.openOnce(this.choice);
    } catch (error) {
      if (error instanceof StartRefused) throw error;
      this.logger.error(
        { err: (error as Error).message, why: this.trouble },
        'the database cannot be opened; trying again',
      );
      this.retry();
    }
  }

  /**
   * Opens and keeps a choice of the setup flow. Two calls at once: the second waits and finds it open.
   * @throws the driver's error, StartRefused
   */
  async choose(choice: DatabaseChoice): Promise<void> {
    await this.openOnce(choice);
    writeChoice(this.config.dataDir, choice);
    this.choice = choice;
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopped = true;
    this.cancelRetry?.();
    // a server that does not answer takes no leave
    if (this.source.isInitialized) await within(this.source.destroy(), STOP_WAIT_MS);
  }

  private retry(): void {
    if (this.stopped) return;
    this.cancelRetry = after(RETRY_MS, () => {
      this.openOnce(this.choice as DatabaseChoice).catch((error: Error) => {
        if (error instanceof StartRefused) {
          this.logger.fatal(error.message);
          this.whenRefused();
          return;
        }
        this.logger.warn({ err: error.message, why: this.trouble }, 'the database is still down');
        this.retry();
      });
    });
  }

  private async openOnce(choice: DatabaseChoice): Promise<void> {
    if (this.open) return;
    this.opening ??= this.openAndPrepare(choice).finally(() => {
      this.opening = null;
    });
    try {
      await this.opening;
      this.trouble = null;
    } catch (error) {
      this.trouble = failureWords(error);
      throw error;
    }
  }

  private async openAndPrepare(choice: DatabaseChoice): Promise<void> {
    this.accepted = false;
    await this.source.open(choice, (fields, words, level = 'info') => this.logger[level](fields, words));
    try {
      if (!this.mayLack) await this.sealed.check();
      this.unfit = null;
      await this.clock.begin();
      for (const task of this.beforeOpened) await task();
      this.accepted = true;
    } catch (error) {
      await this.source.destroy();
      throw error;
    }
    this.logger.info({ type: this.source.options.type }, 'database open, schema up to date');
    if (!this.watching) void this.watch();
    await this.events.emit('database.opened');
  }

  private async watch(): Promise<void> {
    this.watching = true;
    while (!this.stopped) {
      await this.look();
      await sleep(LOOK_MS, { idle: true });
    }
  }

  /** Looks whether the schema is still the one of this program, and what time it is. */
  async look(): Promise<void> {
    if (!this.open || this.stopped) return;
    try {
      const why = await whyUnfit(this.source);
      if (why && why !== this.unfit) this.logger.error(why);
      if (!why && this.unfit) this.logger.info('the schema of the database is the one of this program again');
      this.unfit = why;
      await this.clock.look();
      if (!why) for (const task of this.looks) await task();
    } catch (error) {
      // one that is away says nothing new
      if (!isDatabaseDown(error) && !isDatabaseSlow(error) && !this.stopped)
        this.logger.warn({ err: (error as Error).message }, 'the database could not be looked at');
    }
    await this.tellClock();
  }

  private async tellClock(): Promise<void> {
    if (isClockOff() === this.clockTold) return;
    this.clockTold = !this.clockTold;
    const offset_seconds = Math.round(clockOffsetMs()) / 1000;
    const which = { offset_seconds, replica: hostname() };
    if (!this.clockTold) return this.logger.info(which, 'the clock of this machine is right again');
    this.logger.error(which, 'the clock of this machine is off from that of the database: it takes no jobs');
    const way = offset_seconds > 0 ? 'ahead of' : 'behind';
    const text = `The clock of ${which.replica} is ${Math.abs(offset_seconds)} s ${way} that of the database; it takes no jobs`;
    await this.events.emit('notice', { event: 'clock.off', text, details: which });
  }
}
