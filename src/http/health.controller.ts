import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Access, Fails } from '../common/access.js';
import { errors } from '../common/errors.js';
import { DatabaseService } from '../database/database.service.js';
import { Db } from '../database/db.js';
import { UsersService } from '../users/users.service.js';
import { Health } from './health.dto.js';

@ApiTags('Health')
@Access({ public: true, beforeSetup: true })
@Controller('health')
export class HealthController {
  constructor(
    private readonly database: DatabaseService,
    private readonly db: Db,
    private readonly users: UsersService,
  ) {}

  /** The process answers. */
  @Get('live')
  live(): Health {
    return { status: 'ok' };
  }

  /**
   * The service can work: its database answers. Also ready while it waits for the setup flow. 503001 when the database
   * is down.
   */
  @Get('ready')
  @Fails('notReady')
  async ready(): Promise<Health> {
    if (!this.database.configured) return { status: 'setup' };
    if (!this.database.open) throw errors.notReady('The database is down; trying again', 5);
    await this.db.rows('SELECT 1 AS one');
    return { status: (await this.users.someExist()) ? 'ok' : 'setup' };
  }
}
