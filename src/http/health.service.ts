import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { SigningKey } from '../auth/sessions/signing-key.js';
import { clockOffsetMs, isClockOff, within } from '../platform/common/clock.js';
import { errors } from '../platform/common/errors.js';
import { Logger } from '../platform/common/logger.js';
import { DatabaseService } from '../platform/database/database.service.js';
import { Db, isDatabaseDown } from '../platform/database/db.js';
import { Installation } from '../platform/database/installation.js';
import type { FastExpressAdapter } from '../platform/http/express-adapter.js';
import { RedisLink } from '../platform/redis/redis-link.js';
import { UsersService } from '../users/users.service.js';
import type { Health } from './health.dto.js';

/** ms that a probe is kept waiting */
const CHECK_MS = 3000;

/** Whether the service can work. */
@Injectable()
export class HealthService {
  private check: Promise<Health> | null = null;

  constructor(
    private readonly database: DatabaseService,
    private readonly db: Db,
    private readonly users: UsersService,
    private readonly key: SigningKey,
    private readonly redis: RedisLink,
    private readonly adapters: HttpAdapterHost<FastExpressAdapter>,
    private readonly installation: Installation,
    private readonly logger: Logger,
  ) {}

  /** @throws AppError 503001 */
  async ready(): Promise<Health> {
    if (this.adapters.httpAdapter.draining) throw errors.notReady('replica_ending', 5);
    if (!this.database.configured) return { status: 'setup' };
    if (!this.database.open) {
      const { trouble } = this.database;
      throw trouble
        ? errors.notReady('database_down_because', 5, { why: trouble })
        : errors.notReady('database_down', 5);
    }
    if (this.database.unfit) throw errors.notReady('schema_unfit', 30, { words: this.database.unfit });
    // one check for all probes: at a server that does not answer each would hold a connection
    this.check ??= this.state().finally(() => {
      this.check = null;
    });
    const found: { state?: Health } = {};
    const seen = this.check.then((state) => {
      found.state = state;
    });
    seen.catch(() => undefined); // it may fail after the probe was answered
    await within(seen, CHECK_MS);
    if (!found.state) throw errors.notReady('database_silent', 5);
    return found.state;
  }

  private async state(): Promise<Health> {
    await this.db.ping();
    if (!(await this.users.someExist())) return { status: 'setup' };
    await this.key.get().catch((error: Error) => {
      if (isDatabaseDown(error)) throw error;
      this.logger.error({ err: error.message }, 'the secret that signs logins cannot be decrypted');
      throw errors.notReady('signing_secret_unreadable', 60);
    });
    const { state } = this.redis;
    const { paused } = this.installation;
    const health: Health = { status: 'ok' };
    if (state !== 'none') health.redis = state;
    if (paused) health.paused = paused;
    if (isClockOff()) health.clock_offset_seconds = Math.round(clockOffsetMs()) / 1000;
    return health;
  }
}
