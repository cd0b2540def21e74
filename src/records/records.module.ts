import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { DomainsModule } from '../domains/domains.module.js';
import { AccountSyncService } from './account-sync.service.js';
import { AllowedRecords } from './allowed-records.js';
import { ChangeSets } from './changes/change-sets.js';
import { ChangeEngine } from './changes/engine.service.js';
import { Places } from './changes/places.js';
import { Unclear } from './changes/unclear.js';
import { RecordCache } from './record-cache.js';
import { RecordSyncService } from './record-sync.service.js';
import { RecordsController } from './records.controller.js';
import { RecordsService } from './records.service.js';
import { SyncController } from './sync.controller.js';

@Module({
  imports: [AccountsModule, DomainsModule],
  controllers: [RecordsController, SyncController],
  providers: [
    RecordsService,
    AllowedRecords,
    ChangeEngine,
    ChangeSets,
    Unclear,
    Places,
    RecordCache,
    RecordSyncService,
    AccountSyncService,
  ],
})
export class RecordsModule {}
