import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Access, Fails } from '../access/access.js';
import { Health } from './health.dto.js';
import { HealthService } from './health.service.js';

@ApiTags('Health')
@Access({ public: true, beforeSetup: true })
@Controller('health')
export class HealthController {
  constructor(private readonly health: HealthService) {}

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
  ready(): Promise<Health> {
    return this.health.ready();
  }
}
