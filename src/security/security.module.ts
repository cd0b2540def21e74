import { Module } from '@nestjs/common';
import { ChallengesService } from './challenges.service.js';
import { LimitsService } from './limits.service.js';
import { SecondFactorService } from './second-factor.service.js';
import { WaysIn } from './ways-in.js';

const SERVICES = [LimitsService, ChallengesService, SecondFactorService, WaysIn];

@Module({ providers: SERVICES, exports: SERVICES })
export class SecurityModule {}
