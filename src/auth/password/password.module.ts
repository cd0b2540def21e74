import { Module } from '@nestjs/common';
import { LimitsModule } from '../../platform/limits/limits.module.js';
import { UsersModule } from '../../users/users.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { Attempts } from './attempts.service.js';
import { PasswordService } from './password.service.js';

@Module({
  imports: [LimitsModule, UsersModule, SessionsModule],
  providers: [Attempts, PasswordService],
  exports: [Attempts, PasswordService],
})
export class PasswordModule {}
