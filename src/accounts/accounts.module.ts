import { Module } from '@nestjs/common';
import { AccountsController } from './accounts.controller.js';
import { AccountsService } from './accounts.service.js';
import { DomainRemoval } from './domain-removal.js';
import { ProviderConnections } from './provider-connections.js';

@Module({
  controllers: [AccountsController],
  providers: [AccountsService, ProviderConnections, DomainRemoval],
  exports: [ProviderConnections, DomainRemoval],
})
export class AccountsModule {}
