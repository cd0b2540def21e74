import { Module } from '@nestjs/common';
import { HoldingsService } from './holdings.service.js';
import { SessionsService } from './sessions.service.js';
import { SigningKey } from './signing-key.js';
import { UserAdministration } from './user-administration.service.js';
import { UsersController } from './users.controller.js';
import { UsersService } from './users.service.js';

@Module({
  controllers: [UsersController],
  providers: [UsersService, UserAdministration, HoldingsService, SessionsService, SigningKey],
  exports: [UsersService, SessionsService, SigningKey],
})
export class UsersModule {}
