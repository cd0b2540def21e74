import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { DomainsModule } from '../domains/domains.module.js';
import { TokensController } from './tokens.controller.js';
import { TokensService } from './tokens.service.js';

@Module({ imports: [AccountsModule, DomainsModule], controllers: [TokensController], providers: [TokensService] })
export class TokensModule {}
