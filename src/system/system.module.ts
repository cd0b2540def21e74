import { Module } from '@nestjs/common';
import { SecurityModule } from '../security/security.module.js';
import { LoginsService } from './logins.service.js';
import { SystemController } from './system.controller.js';

@Module({
  imports: [SecurityModule],
  controllers: [SystemController],
  providers: [LoginsService],
  exports: [LoginsService],
})
export class SystemModule {}
