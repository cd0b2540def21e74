import { Module } from '@nestjs/common';
import { LimitsModule } from '../limits/limits.module.js';
import { LoginsService } from './logins.service.js';
import { SystemController } from './system.controller.js';

@Module({
  imports: [LimitsModule],
  controllers: [SystemController],
  providers: [LoginsService],
  exports: [LoginsService],
})
export class SystemModule {}
