import { Module } from '@nestjs/common';
import { AccountsController } from './accounts.controller.js';
import { AccountsService } from './accounts.service.js';
import { DeletionBlockersRepository } from './deletion-blockers.repository.js';
import { DeletionBlockers } from './deletion-blockers.service.js';
import { DnsAccountsRepository } from './dns-accounts.repository.js';
import { DomainReadersRepository } from './domain-readers.repository.js';
import { AccountPauses } from './pauses.service.js';
import { ProviderConnections } from './provider-connections.js';
import { ProviderSessionsRepository } from './provider-sessions.repository.js';
import { ProviderSessions } from './provider-sessions.service.js';
import { ZoneFileDirectory } from './zone-file-directory.js';

@Module({
  controllers: [AccountsController],
  providers: [
    DnsAccountsRepository,
    DeletionBlockersRepository,
    DomainReadersRepository,
    AccountsService,
    AccountPauses,
    DeletionBlockers,
    ProviderConnections,
    ProviderSessions,
    ProviderSessionsRepository,
    ZoneFileDirectory,
  ],
  exports: [AccountsService, DeletionBlockers, DnsAccountsRepository, DomainReadersRepository, ProviderConnections],
})
export class AccountsModule {}
