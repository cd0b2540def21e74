import { Module } from '@nestjs/common';
import { LimitsModule } from '../limits/limits.module.js';
import { JobsController } from './jobs.controller.js';
import { JobsService } from './jobs.service.js';
import { LoginsService } from './logins.service.js';
import { SystemController } from './system.controller.js';

@Module({
  imports: [LimitsModule],
  controllers: [SystemController, JobsController],
  providers: [LoginsService, JobsService],
  exports: [LoginsService],
})
export class SystemModule {}
