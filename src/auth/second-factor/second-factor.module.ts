import { Module } from '@nestjs/common';
import { LimitsModule } from '../../limits/limits.module.js';
import { UsersModule } from '../../users/users.module.js';
import { PasswordModule } from '../password/password.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { CodeCheck } from './code-check.service.js';
import { FreshnessService } from './freshness.service.js';
import { SecondFactorController } from './second-factor.controller.js';
import { SecondFactorService } from './second-factor.service.js';

const SERVICES = [SecondFactorService, CodeCheck, FreshnessService];

@Module({
  imports: [LimitsModule, UsersModule, SessionsModule, PasswordModule],
  controllers: [SecondFactorController],
  providers: SERVICES,
  exports: SERVICES,
})
export class SecondFactorModule {}
