import { Module } from '@nestjs/common';
import { SessionsService } from '../auth/sessions/sessions.service.js';
import { SigningKey } from '../auth/sessions/signing-key.js';
import { HoldingsService } from './administration/holdings.service.js';
import { UserAdministration } from './administration/user-administration.service.js';
import { UsersController } from './administration/users.controller.js';
import { UsersService } from './users.service.js';

@Module({
  controllers: [UsersController],
  providers: [UsersService, UserAdministration, HoldingsService, SessionsService, SigningKey],
  exports: [UsersService, SessionsService, SigningKey],
})
export class UsersModule {}
