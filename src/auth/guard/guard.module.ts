import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { PassportModule } from '@nestjs/passport';
import { ThrottlerModule } from '@nestjs/throttler';
import { DomainsModule } from '../../domains/domains.module.js';
import { RedisModule } from '../../platform/redis/redis.module.js';
import { TokensModule } from '../../tokens/tokens.module.js';
import { UsersModule } from '../../users/users.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { AccessGuard } from './access.guard.js';
import { Admission } from './admission.service.js';
import { BodyGuard } from './body.guard.js';
import { ConditionsGuard } from './conditions.guard.js';
import { Proofs } from './proofs.js';
import { RateCounts } from './rate-counts.js';
import { RateGuard, THROTTLERS } from './rate-limit.js';
import { RateStorage } from './rate-storage.js';
import { ApiTokenStrategy, JwtStrategy } from './strategies.js';
import { Tickets } from './tickets.service.js';
import { UnknownQueryGuard } from './unknown-query.guard.js';

@Module({ imports: [RedisModule], providers: [RateStorage], exports: [RateStorage] })
class RateStorageModule {}

@Module({
  imports: [
    PassportModule,
    RateStorageModule,
    ThrottlerModule.forRootAsync({
      imports: [RateStorageModule],
      inject: [RateStorage],
      useFactory: (storage: RateStorage) => ({ throttlers: THROTTLERS, storage }),
    }),
    UsersModule,
    SessionsModule,
    DomainsModule,
    TokensModule,
  ],
  providers: [
    JwtStrategy,
    ApiTokenStrategy,
    Tickets,
    Proofs,
    RateCounts,
    Admission,
    // in this order: who the caller is, how often, and whether the query, the headers or the body say what
    // would be passed over
    { provide: APP_GUARD, useClass: AccessGuard },
    { provide: APP_GUARD, useClass: RateGuard },
    { provide: APP_GUARD, useClass: UnknownQueryGuard },
    { provide: APP_GUARD, useClass: ConditionsGuard },
    { provide: APP_GUARD, useClass: BodyGuard },
  ],
  exports: [Tickets, Proofs, Admission],
})
export class GuardModule {}
