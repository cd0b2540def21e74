import { Module } from '@nestjs/common';
import { UsersModule } from '../../users/users.module.js';
import { SecondFactorModule } from '../second-factor/second-factor.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { BindingController } from './binding.controller.js';
import { BrowserFlows } from './browser-flows.service.js';
import { IdentitiesRepository } from './identities.repository.js';
import { IdentitiesService } from './identities.service.js';
import { OauthController } from './oauth.controller.js';
import { OauthService } from './oauth.service.js';
import { OauthHttp } from './oauth-http.js';
import { OauthLogin } from './oauth-login.service.js';

@Module({
  imports: [UsersModule, SessionsModule, SecondFactorModule],
  controllers: [OauthController, BindingController],
  providers: [OauthService, OauthLogin, IdentitiesRepository, IdentitiesService, OauthHttp, BrowserFlows],
  exports: [OauthService, OauthLogin, IdentitiesRepository],
})
export class OauthModule {}
