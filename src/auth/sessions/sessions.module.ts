import { Module } from '@nestjs/common';
import { JwtModule } from '@nestjs/jwt';
import { LimitsModule } from '../../platform/limits/limits.module.js';
import { UsersModule } from '../../users/users.module.js';
import { ChallengesRepository } from './challenges.repository.js';
import { ChallengesService } from './challenges.service.js';
import { OwnSessions } from './own-sessions.service.js';
import { Refusals } from './refusals.service.js';
import { SessionsController } from './sessions.controller.js';
import { SessionsRepository } from './sessions.repository.js';
import { SessionsService } from './sessions.service.js';
import { SignIn } from './sign-in.service.js';
import { SignInMethods } from './sign-in-methods.js';
import { SigningKey } from './signing-key.js';

const SERVICES = [
  SessionsRepository,
  ChallengesRepository,
  SessionsService,
  ChallengesService,
  SigningKey,
  SignIn,
  Refusals,
  SignInMethods,
];

@Module({
  imports: [JwtModule.register({}), LimitsModule, UsersModule],
  controllers: [SessionsController],
  providers: [...SERVICES, OwnSessions],
  exports: SERVICES,
})
export class SessionsModule {}
