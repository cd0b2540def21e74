import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { within } from '../common/clock.js';
import { log } from '../common/logger.js';
import { StartRefused } from '../common/start-refused.js';
import { readChoice, writeChoice } from '../config/choice-file.js';
import type { Config, DatabaseChoice } from '../config/config.js';
import { CONFIG } from '../config/config.module.js';
import { Events } from '../events/events.js';
import { provide } from '../metrics/metrics.js';
import { AppDataSource } from './app-data-source.js';
import { failureWords } from './failure-words.js';
import { SealedValues } from './sealed-values.js';

const RETRY_MS = 2000;
/** ms that the end of the process waits for the database */
const STOP_WAIT_MS = 3000;

/** Opens the database of the environment or of the setup flow, and keeps trying while it is down. */
@Injectable()
export class DatabaseService implements OnModuleInit, OnApplicationShutdown {
  private choice: DatabaseChoice | null = null;
  private timer: NodeJS.Timeout | undefined;
  private opening: Promise<void> | null = null;
  private stopped = false;
  private accepted = false;
  private mayLack = false;
  /** why the database cannot be opened, in words that say nothing of it; null: it can, or nobody has tried */
  trouble: string | null = null;
  /** what ends the process when a database that was down at the start turns out to be one to refuse */
  whenRefused: () => void = () => undefined;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly source: AppDataSource,
    private readonly events: Events,
    private readonly sealed: SealedValues,
  ) {}

  /** A database was named, by the environment or by the setup flow; it may be down. */
  get configured(): boolean {
    return this.choice !== null;
  }

  /** Connected and migrated, and its secrets can be decrypted. */
  get open(): boolean {
    return this.source.ready && this.accepted;
  }

  onModuleInit(): void {
    provide('zoneward_database_connections', () => this.source.connections());
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
      log().error({ err: (error as Error).message, why: this.trouble }, 'the database cannot be opened; trying again');
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
    clearTimeout(this.timer);
    // a server that does not answer takes no leave
    if (this.source.isInitialized) await within(this.source.destroy(), STOP_WAIT_MS);
  }

  private retry(): void {
    if (this.stopped) return;
    this.timer = setTimeout(() => {
      this.openOnce(this.choice as DatabaseChoice).catch((error: Error) => {
        if (error instanceof StartRefused) {
          log().fatal(error.message);
          this.whenRefused();
          return;
        }
        log().warn({ err: error.message, why: this.trouble }, 'the database is still down');
        this.retry();
      });
    }, RETRY_MS);
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
    await this.source.open(choice, (fields, words) => log().info(fields, words));
    try {
      if (!this.mayLack) await this.sealed.check();
      this.accepted = true;
    } catch (error) {
      await this.source.destroy();
      throw error;
    }
    log().info({ type: this.source.options.type }, 'database open, schema up to date');
    await this.events.emit('database.opened');
  }
}
