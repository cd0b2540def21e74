import { Module } from '@nestjs/common';
import { UsersModule } from '../users/users.module.js';
import { ChallengesService } from './challenges.service.js';
import { LimitsService } from './limits.service.js';
import { BindingController } from './oauth/binding.controller.js';
import { IdentitiesService } from './oauth/identities.service.js';
import { OauthService } from './oauth/oauth.service.js';
import { OauthClients } from './oauth/oauth-clients.service.js';
import { OauthHttp } from './oauth/oauth-http.js';
import { PasskeyLoginService } from './passkeys/passkey-login.service.js';
import { PasskeysService } from './passkeys/passkeys.service.js';
import { RelyingParty } from './passkeys/relying-party.js';
import { ProfileController } from './profile.controller.js';
import { ProfileService } from './profile.service.js';
import { SecondFactorService } from './second-factor.service.js';
import { WaysIn } from './ways-in.js';

const SERVICES = [
  LimitsService,
  ChallengesService,
  SecondFactorService,
  WaysIn,
  PasskeysService,
  PasskeyLoginService,
  OauthService,
  IdentitiesService,
];

@Module({
  imports: [UsersModule],
  controllers: [ProfileController, BindingController],
  providers: [...SERVICES, RelyingParty, ProfileService, OauthClients, OauthHttp],
  exports: SERVICES,
})
export class SecurityModule {}
