import { Module } from '@nestjs/common';
import { SessionsModule } from '../auth/sessions/sessions.module.js';
import { UsersModule } from '../users/users.module.js';
import { FirstAdministrator } from './first-administrator.service.js';
import { InitController } from './init.controller.js';
import { InitService } from './init.service.js';

@Module({
  imports: [UsersModule, SessionsModule],
  controllers: [InitController],
  providers: [InitService, FirstAdministrator],
})
export class InitModule {}
