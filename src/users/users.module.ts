import { Module } from '@nestjs/common';
import { SessionsService } from './sessions.service.js';
import { SigningKey } from './signing-key.js';
import { UsersService } from './users.service.js';

@Module({
  providers: [UsersService, SessionsService, SigningKey],
  exports: [UsersService, SessionsService, SigningKey],
})
export class UsersModule {}
