import { Module } from '@nestjs/common';
import { OauthModule } from '../../auth/oauth/oauth.module.js';
import { PasskeysModule } from '../../auth/passkeys/passkeys.module.js';
import { SecondFactorModule } from '../../auth/second-factor/second-factor.module.js';
import { SessionsModule } from '../../auth/sessions/sessions.module.js';
import { TokensModule } from '../../tokens/tokens.module.js';
import { UsersModule } from '../../users/users.module.js';
import { HoldingsService } from './holdings.service.js';
import { UserAdministration } from './user-administration.service.js';
import { UsersController } from './users.controller.js';

@Module({
  imports: [UsersModule, SessionsModule, SecondFactorModule, PasskeysModule, OauthModule, TokensModule],
  controllers: [UsersController],
  providers: [UserAdministration, HoldingsService],
})
export class AdministrationModule {}
