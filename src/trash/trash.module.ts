import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { CacheModule } from '../cache/cache.module.js';
import { ChangesModule } from '../changes/changes.module.js';
import { DomainsModule } from '../domains/domains.module.js';
import { DomainDeletion } from './domain-deletion.service.js';
import { DomainDeletionController, TrashController } from './trash.controller.js';
import { Trash } from './trash.service.js';
import { TrashRemoval } from './trash-removal.service.js';
import { TrashedDomainsRepository } from './trashed-domains.repository.js';

@Module({
  imports: [AccountsModule, DomainsModule, CacheModule, ChangesModule],
  controllers: [DomainDeletionController, TrashController],
  providers: [TrashedDomainsRepository, Trash, TrashRemoval, DomainDeletion],
  exports: [DomainDeletion],
})
export class TrashModule {}
