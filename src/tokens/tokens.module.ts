import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { SessionsModule } from '../auth/sessions/sessions.module.js';
import { DomainsModule } from '../domains/domains.module.js';
import { UsersModule } from '../users/users.module.js';
import { ApiTokensRepository } from './api-tokens.repository.js';
import { ExplainService } from './explain.service.js';
import { GrantsRepository } from './grants.repository.js';
import { Makers } from './makers.service.js';
import { TokenChanges } from './token-changes.service.js';
import { TokenChecks } from './token-checks.service.js';
import { TokenUsesRepository } from './token-uses.repository.js';
import { TokenUses } from './token-uses.service.js';
import { TokensController } from './tokens.controller.js';
import { TokensService } from './tokens.service.js';
import { UnusedTokens } from './unused-tokens.service.js';
import { UserExplainController } from './user-explain.controller.js';

@Module({
  imports: [AccountsModule, DomainsModule, UsersModule, SessionsModule],
  controllers: [TokensController, UserExplainController],
  providers: [
    ...[ApiTokensRepository, TokenUsesRepository, GrantsRepository],
    ...[TokensService, TokenChanges, TokenChecks, TokenUses, UnusedTokens, ExplainService, Makers],
  ],
  exports: [ApiTokensRepository, TokensService, TokenUses, Makers],
})
export class TokensModule {}
