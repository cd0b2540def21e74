import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { JwtModule } from '@nestjs/jwt';
import { PassportModule } from '@nestjs/passport';
import { ThrottlerModule } from '@nestjs/throttler';
import { DomainsModule } from '../domains/domains.module.js';
import { SecurityModule } from '../security/security.module.js';
import { TokensModule } from '../tokens/tokens.module.js';
import { UsersModule } from '../users/users.module.js';
import { AccessGuard } from './access.guard.js';
import { AuthController } from './auth.controller.js';
import { AuthService } from './auth.service.js';
import { FreshnessService } from './freshness.service.js';
import { OauthController } from './oauth.controller.js';
import { OauthLogin } from './oauth-login.service.js';
import { PasskeysController } from './passkeys.controller.js';
import { PasswordService } from './password.service.js';
import { RateGuard, RateStorage, THROTTLERS } from './rate-limit.js';
import { SecondFactorController } from './second-factor.controller.js';
import { SessionsController } from './sessions.controller.js';
import { ApiTokenStrategy, JwtStrategy } from './strategies.js';

@Module({ providers: [RateStorage], exports: [RateStorage] })
class RateStorageModule {}

@Module({
  imports: [
    PassportModule,
    JwtModule.register({}),
    ThrottlerModule.forRootAsync({
      imports: [RateStorageModule],
      inject: [RateStorage],
      useFactory: (storage: RateStorage) => ({ throttlers: THROTTLERS, storage }),
    }),
    DomainsModule,
    UsersModule,
    SecurityModule,
    TokensModule,
  ],
  controllers: [AuthController, SecondFactorController, SessionsController, PasskeysController, OauthController],
  providers: [
    AuthService,
    FreshnessService,
    PasswordService,
    OauthLogin,
    JwtStrategy,
    ApiTokenStrategy,
    // in this order: who is asking, then how often
    { provide: APP_GUARD, useClass: AccessGuard },
    { provide: APP_GUARD, useClass: RateGuard },
  ],
})
export class AuthModule {}
