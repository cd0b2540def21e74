import { createHash, timingSafeEqual } from 'node:crypto';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { type Caller, Role } from '../access/access.js';
import { AuditService } from '../audit/audit.service.js';
import { AppError, errors } from '../platform/common/errors.js';
import { Logger } from '../platform/common/logger.js';
import { StartRefused } from '../platform/common/start-refused.js';
import { alsoJudge } from '../platform/common/validation.js';
import { type Config, ConfigError } from '../platform/config/config.js';
import { CONFIG } from '../platform/config/config.module.js';
import { DatabaseService } from '../platform/database/database.service.js';
import { Db } from '../platform/database/db.js';
import { failureWords } from '../platform/database/failure-words.js';
import { SealedValues } from '../platform/database/sealed-values.js';
import { Events } from '../platform/events/events.js';
import { OutboundError } from '../platform/outbound/outbound-error.js';
import { UsersService } from '../users/users.service.js';
import { allowedAddresses, choiceOf, probe } from './database-probe.js';
import { FirstAdministrator } from './first-administrator.service.js';
import { AdminInput, type DatabaseInput, type Done, type InitStatus, type TestResult } from './init.dto.js';
import { SetupTries } from './setup-tries.js';

const digest = (text: string) => createHash('sha256').update(text).digest();

/** First-run setup: choose a database, create the first administrator. Closed for good as soon as a user exists. */
@Injectable()
export class InitService implements OnModuleInit {
  /** the pending choice of a database */
  private choosing: Promise<void> = Promise.resolve();
  private readonly tries = new SetupTries();
  /**
   * what is wrong with ADMIN_USERNAME or ADMIN_PASSWORD, or with the key, as found when the database was opened
   */
  presetProblem: ConfigError | StartRefused | null = null;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly database: DatabaseService,
    private readonly events: Events,
    private readonly db: Db,
    private readonly users: UsersService,
    private readonly first: FirstAdministrator,
    private readonly sealed: SealedValues,
    private readonly audit: AuditService,
    private readonly logger: Logger,
  ) {
    alsoJudge(AdminInput, (input) => users.problems(input, Role.Super));
  }

  onModuleInit(): void {
    this.events.on('database.opened', async () => {
      if (!(await this.users.someExist())) await this.presetAdmin();
    });
  }

  /** @throws AppError 503 when a configured database is unavailable: that never leads to the setup flow */
  async status(): Promise<InitStatus> {
    if (!this.database.configured) return { initialized: false, dbInitialized: false, hasUsers: false };
    if (!this.database.open) throw errors.notReady('database_down', 5);
    await this.db.ping(); // that users exist is cached, that the database is up is not
    const hasUsers = await this.users.someExist();
    return { initialized: hasUsers, dbInitialized: true, hasUsers };
  }

  /**
   * Tests a database without creating anything, at addresses that the outbound rules allow.
   * @throws AppError 403001, 429001
   */
  async test(input: DatabaseInput, caller: Caller): Promise<TestResult> {
    await this.assertSetup(input.setup_code, caller);
    return probe(choiceOf(input, this.config.dataDir), this.config.outboundDeny);
  }

  /** Opens and migrates the chosen database; what is in it is kept. @throws AppError 400001, 403001, 409001 */
  async choose(input: DatabaseInput, caller: Caller): Promise<Done> {
    await this.assertSetup(input.setup_code, caller);
    if (this.config.database) throw errors.conflict('database_preset');
    // one after the other: of two different choices at once, the first one wins and is kept
    const turn = this.choosing.then(() => this.open(input, caller));
    this.choosing = turn.catch(() => undefined);
    await turn;
    return { success: true };
  }

  private async open(input: DatabaseInput, caller: Caller): Promise<void> {
    if (this.database.open) throw errors.conflict('database_chosen');
    const choice = choiceOf(input, this.config.dataDir);
    try {
      await allowedAddresses(choice, this.config.outboundDeny);
      await this.database.choose(choice);
    } catch (error) {
      if (error instanceof AppError && !(error instanceof OutboundError)) throw error;
      if (error instanceof StartRefused) {
        this.logger.error(error.message);
        throw errors.field(input.type, error.shown, 'conflict');
      }
      this.logger.warn({ err: (error as Error).message }, 'the chosen database cannot be opened');
      throw errors.field(input.type, failureWords(error));
    }
    const target = { type: 'database', id: null, name: choice.type };
    await this.audit.append(caller, { action: 'init.database', target });
  }

  /** @throws AppError 400001, 403001, 503001 */
  async admin(input: AdminInput, caller: Caller): Promise<Done> {
    await this.assertSetup(input.setup_code, caller);
    if (!this.database.open) throw errors.notReady('database_needed');
    await this.first.create(input, caller);
    return { success: true };
  }

  private async assertSetup(code: string | undefined, { ip }: Caller): Promise<void> {
    if (this.database.configured && !this.database.open) throw errors.notReady('database_down', 5);
    if (this.database.open && (await this.users.someExist())) throw errors.forbidden('already_initialised');
    const { setupCode } = this.config;
    if (!setupCode) return;
    this.tries.assertLeft(ip);
    if (!timingSafeEqual(digest(code ?? ''), digest(setupCode))) {
      // a request without a code is no guess
      if (code) this.tries.failed(ip);
      throw errors.forbidden('setup_code_wrong');
    }
  }

  /** Checks the key again, after another replica created the administrator first. */
  private async sameKey(): Promise<void> {
    await this.sealed.check().catch((error: Error) => {
      if (!(error instanceof StartRefused)) throw error;
      this.presetProblem = error;
    });
  }

  /** Unattended installs: `ADMIN_USERNAME` and `ADMIN_PASSWORD`. */
  private async presetAdmin(): Promise<void> {
    if (!this.config.admin) return;
    try {
      await this.first.create(this.config.admin, 'system');
      this.logger.info(
        { username: this.config.admin.username },
        'created the first administrator from the environment',
      );
    } catch (error) {
      if (error instanceof AppError && error.status === 403) return this.sameKey();
      if (error instanceof AppError) {
        const words = error.message.replace(/^username/, 'ADMIN_USERNAME').replace(/password: /, 'ADMIN_PASSWORD: ');
        // at the start it ends the process; with a database that is opened later it is only logged
        this.presetProblem = new ConfigError(`Wrong configuration:\n  ${words}`);
        this.logger.warn(this.presetProblem.message);
        return;
      }
      throw error;
    }
  }
}
