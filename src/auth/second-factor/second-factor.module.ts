import { Module } from '@nestjs/common';
import { LimitsModule } from '../../platform/limits/limits.module.js';
import { UsersModule } from '../../users/users.module.js';
import { PasswordModule } from '../password/password.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { CodeCheck } from './code-check.service.js';
import { FreshnessService } from './freshness.service.js';
import { RecoveryCodesRepository } from './recovery-codes.repository.js';
import { SecondFactorController } from './second-factor.controller.js';
import { SecondFactorService } from './second-factor.service.js';
import { SecondFactorsRepository } from './second-factors.repository.js';

const SERVICES = [SecondFactorService, CodeCheck, FreshnessService];

@Module({
  imports: [LimitsModule, UsersModule, SessionsModule, PasswordModule],
  controllers: [SecondFactorController],
  providers: [SecondFactorsRepository, RecoveryCodesRepository, ...SERVICES],
  exports: SERVICES,
})
export class SecondFactorModule {}
