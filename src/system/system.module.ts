import { Module } from '@nestjs/common';
import { LimitsModule } from '../platform/limits/limits.module.js';
import { RedisModule } from '../platform/redis/redis.module.js';
import { BackupsController } from './backups.controller.js';
import { BackupsService } from './backups.service.js';
import { DatabaseStatusRepository } from './database-status.repository.js';
import { JobsController } from './jobs.controller.js';
import { JobsService } from './jobs.service.js';
import { KeysService } from './keys.service.js';
import { LoginsService } from './logins.service.js';
import { PauseService } from './pause.service.js';
import { StatusService } from './status.service.js';
import { SystemController } from './system.controller.js';

@Module({
  imports: [LimitsModule, RedisModule],
  controllers: [SystemController, JobsController, BackupsController],
  providers: [
    DatabaseStatusRepository,
    LoginsService,
    JobsService,
    StatusService,
    BackupsService,
    KeysService,
    PauseService,
  ],
  exports: [LoginsService, BackupsService, KeysService, PauseService],
})
export class SystemModule {}
