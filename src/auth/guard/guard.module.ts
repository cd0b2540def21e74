import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { PassportModule } from '@nestjs/passport';
import { ThrottlerModule } from '@nestjs/throttler';
import { DomainsModule } from '../../domains/domains.module.js';
import { RateStorage } from '../../platform/rates/rate-storage.js';
import { RatesModule } from '../../platform/rates/rates.module.js';
import { TokensModule } from '../../tokens/tokens.module.js';
import { UsersModule } from '../../users/users.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { AccessGuard } from './access.guard.js';
import { Admission } from './admission.service.js';
import { BodyGuard } from './body.guard.js';
import { ConditionsGuard } from './conditions.guard.js';
import { Proofs } from './proofs.js';
import { RateGuard, THROTTLERS } from './rate-limit.js';
import { ApiTokenStrategy, JwtStrategy } from './strategies.js';
import { Tickets } from './tickets.service.js';
import { UnknownQueryGuard } from './unknown-query.guard.js';

@Module({
  imports: [
    PassportModule,
    RatesModule,
    ThrottlerModule.forRootAsync({
      imports: [RatesModule],
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
