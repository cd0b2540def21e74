import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { JwtModule } from '@nestjs/jwt';
import { PassportModule } from '@nestjs/passport';
import { DomainsModule } from '../domains/domains.module.js';
import { UsersModule } from '../users/users.module.js';
import { AccessGuard } from './access.guard.js';
import { AuthController } from './auth.controller.js';
import { AuthService } from './auth.service.js';
import { LimitsService } from './limits.service.js';
import { ApiTokenStrategy, JwtStrategy } from './strategies.js';

@Module({
  imports: [PassportModule, JwtModule.register({}), DomainsModule, UsersModule],
  controllers: [AuthController],
  providers: [AuthService, LimitsService, JwtStrategy, ApiTokenStrategy, { provide: APP_GUARD, useClass: AccessGuard }],
})
export class AuthModule {}
