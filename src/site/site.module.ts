import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { LoginModule } from '../auth/login/login.module.js';
import { OauthModule } from '../auth/oauth/oauth.module.js';
import { PasskeysModule } from '../auth/passkeys/passkeys.module.js';
import { ProfileModule } from '../auth/profile/profile.module.js';
import { DomainsModule } from '../domains/domains.module.js';
import { TokensModule } from '../tokens/tokens.module.js';
import { SiteController } from './site.controller.js';
import { SiteService } from './site.service.js';

@Module({
  imports: [AccountsModule, DomainsModule, TokensModule, LoginModule, OauthModule, PasskeysModule, ProfileModule],
  controllers: [SiteController],
  providers: [SiteService],
})
export class SiteModule {}
