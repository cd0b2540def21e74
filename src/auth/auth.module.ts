import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { JwtModule } from '@nestjs/jwt';
import { PassportModule } from '@nestjs/passport';
import { ThrottlerModule } from '@nestjs/throttler';
import { DomainsModule } from '../domains/domains.module.js';
import { TokensModule } from '../tokens/tokens.module.js';
import { UsersModule } from '../users/users.module.js';
import { AccessGuard } from './guard/access.guard.js';
import { RateGuard, RateStorage, THROTTLERS } from './guard/rate-limit.js';
import { ApiTokenStrategy, JwtStrategy } from './guard/strategies.js';
import { AuthController } from './login/auth.controller.js';
import { AuthService } from './login/auth.service.js';
import { OauthController } from './oauth/oauth.controller.js';
import { OauthLogin } from './oauth/oauth-login.service.js';
import { PasskeysController } from './passkeys/passkeys.controller.js';
import { PasswordService } from './password/password.service.js';
import { FreshnessService } from './second-factor/freshness.service.js';
import { SecondFactorController } from './second-factor/second-factor.controller.js';
import { SecurityModule } from './security.module.js';
import { SessionsController } from './sessions/sessions.controller.js';

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
