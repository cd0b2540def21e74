import { Module } from '@nestjs/common';
import { ChallengesService } from './challenges.service.js';
import { LimitsService } from './limits.service.js';
import { PasskeyLoginService } from './passkeys/passkey-login.service.js';
import { PasskeysService } from './passkeys/passkeys.service.js';
import { RelyingParty } from './passkeys/relying-party.js';
import { ProfileController } from './profile.controller.js';
import { ProfileService } from './profile.service.js';
import { SecondFactorService } from './second-factor.service.js';
import { WaysIn } from './ways-in.js';

const SERVICES = [LimitsService, ChallengesService, SecondFactorService, WaysIn, PasskeysService, PasskeyLoginService];

@Module({ controllers: [ProfileController], providers: [...SERVICES, RelyingParty, ProfileService], exports: SERVICES })
export class SecurityModule {}
