import { Module } from '@nestjs/common';
import { LimitsModule } from '../limits/limits.module.js';
import { UsersModule } from '../users/users.module.js';
import { BindingController } from './oauth/binding.controller.js';
import { IdentitiesService } from './oauth/identities.service.js';
import { OauthService } from './oauth/oauth.service.js';
import { OauthClients } from './oauth/oauth-clients.service.js';
import { OauthHttp } from './oauth/oauth-http.js';
import { PasskeyLoginService } from './passkeys/passkey-login.service.js';
import { PasskeysService } from './passkeys/passkeys.service.js';
import { RelyingParty } from './passkeys/relying-party.js';
import { ProfileController } from './profile/profile.controller.js';
import { ProfileService } from './profile/profile.service.js';
import { SecondFactorService } from './second-factor/second-factor.service.js';
import { ChallengesService } from './sessions/challenges.service.js';
import { WaysIn } from './sessions/ways-in.js';

const SERVICES = [
  ChallengesService,
  SecondFactorService,
  WaysIn,
  PasskeysService,
  PasskeyLoginService,
  OauthService,
  IdentitiesService,
];

@Module({
  imports: [UsersModule, LimitsModule],
  controllers: [ProfileController, BindingController],
  providers: [...SERVICES, RelyingParty, ProfileService, OauthClients, OauthHttp],
  exports: [...SERVICES, LimitsModule],
})
export class SecurityModule {}
