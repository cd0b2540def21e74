import { Controller, Get } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { ApiTags } from '@nestjs/swagger';
import { SigningKey } from '../auth/sessions/signing-key.js';
import { Access, Fails } from '../common/access.js';
import { clockOffsetMs, isClockOff, within } from '../common/clock.js';
import { errors } from '../common/errors.js';
import type { FastExpressAdapter } from '../common/express-adapter.js';
import { log } from '../common/logger.js';
import { DatabaseService } from '../database/database.service.js';
import { Db, isDatabaseDown } from '../database/db.js';
import { Installation } from '../database/installation.js';
import { RedisLink } from '../redis/redis-link.js';
import { UsersService } from '../users/users.service.js';
import { Health } from './health.dto.js';

/** ms that a probe is kept waiting */
const LOOK_MS = 3000;

@ApiTags('Health')
@Access({ public: true, beforeSetup: true })
@Controller('health')
export class HealthController {
  private look: Promise<Health> | null = null;

  constructor(
    private readonly database: DatabaseService,
    private readonly db: Db,
    private readonly users: UsersService,
    private readonly key: SigningKey,
    private readonly redis: RedisLink,
    private readonly adapters: HttpAdapterHost<FastExpressAdapter>,
    private readonly installation: Installation,
  ) {}

  /** The process answers. */
  @Get('live')
  live(): Health {
    return { status: 'ok' };
  }

  /**
   * The service can work: its database answers, and its key fits to what was encrypted there. Also ready while it waits
   * for the setup flow, while Redis is away, which `redis` says, and while a copy of a database waits for
   * `POST /api/system/resume`, which `paused` says. 503001 when the database is down, does not answer within seconds,
   * or has the schema of another version of this program, and once the service was told to end (SIGTERM): it takes
   * requests for a while still.
   */
  @Get('ready')
  @Fails('notReady')
  async ready(): Promise<Health> {
    if (this.adapters.httpAdapter.draining) throw errors.notReady('The service is ending; ask another replica', 5);
    if (!this.database.configured) return { status: 'setup' };
    if (!this.database.open) {
      const { trouble } = this.database;
      throw errors.notReady(`The database is down${trouble ? ` (${trouble})` : ''}; trying again`, 5);
    }
    if (this.database.unfit) throw errors.notReady(this.database.unfit, 30);
    // one look for all who ask: at a server that does not answer each would hold a connection
    this.look ??= this.state().finally(() => {
      this.look = null;
    });
    const found: { state?: Health } = {};
    const seen = this.look.then((state) => {
      found.state = state;
    });
    seen.catch(() => undefined); // when nobody waits for it any more
    await within(seen, LOOK_MS);
    if (!found.state) throw errors.notReady('The database does not answer; trying again', 5);
    return found.state;
  }

  private async state(): Promise<Health> {
    await this.db.rows('SELECT 1 AS one');
    if (!(await this.users.someExist())) return { status: 'setup' };
    await this.key.get().catch((error: Error) => {
      if (isDatabaseDown(error)) throw error;
      log().error({ err: error.message }, 'the secret that signs logins cannot be decrypted');
      throw errors.notReady('The secret that signs logins cannot be decrypted; the log says why', 60);
    });
    const { state } = this.redis;
    const { paused } = this.installation;
    return {
      status: 'ok',
      ...(state !== 'none' && { redis: state }),
      ...(paused && { paused }),
      ...(isClockOff() && { clock_offset_seconds: Math.round(clockOffsetMs()) / 1000 }),
    };
  }
}
