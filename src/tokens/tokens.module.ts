import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { DomainsModule } from '../domains/domains.module.js';
import { UsersModule } from '../users/users.module.js';
import { ExplainService } from './explain.service.js';
import { Makers } from './makers.service.js';
import { TokenUses } from './token-uses.service.js';
import { TokensController } from './tokens.controller.js';
import { TokensService } from './tokens.service.js';
import { UnusedTokens } from './unused-tokens.service.js';
import { UserExplainController } from './user-explain.controller.js';

@Module({
  imports: [AccountsModule, DomainsModule, UsersModule],
  controllers: [TokensController, UserExplainController],
  providers: [TokensService, TokenUses, UnusedTokens, ExplainService, Makers],
  exports: [TokensService, TokenUses, Makers],
})
export class TokensModule {}
