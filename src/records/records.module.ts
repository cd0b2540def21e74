import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { RecordCache } from '../cache/record-cache.js';
import { CancelService } from '../changes/cancel.service.js';
import { ChangeSets } from '../changes/change-sets.js';
import { ChangeEngine } from '../changes/engine.service.js';
import { Execution } from '../changes/execution.service.js';
import { HeldLists } from '../changes/held.service.js';
import { KeptHere } from '../changes/kept-here.service.js';
import { LateChanges } from '../changes/late.service.js';
import { Places } from '../changes/places.js';
import { RecordSyncService } from '../changes/record-sync.service.js';
import { ResumeService } from '../changes/resume.service.js';
import { ChangeRetention } from '../changes/retention.service.js';
import { Unclear } from '../changes/unclear.js';
import { DomainsModule } from '../domains/domains.module.js';
import { TokensModule } from '../tokens/tokens.module.js';
import { AllowedRecords } from './allowed-records.js';
import { BatchService } from './batch/batch.service.js';
import { ChangeReader } from './history/change-reader.service.js';
import { ChangesController } from './history/changes.controller.js';
import { RecordsController } from './records.controller.js';
import { RecordsService } from './records.service.js';
import { RrsetsController } from './rrsets/rrsets.controller.js';
import { RrsetsService } from './rrsets/rrsets.service.js';
import { AccountSyncService } from './sync/account-sync.service.js';
import { ReadAnew } from './sync/read-anew.service.js';
import { SyncController } from './sync/sync.controller.js';

@Module({
  imports: [AccountsModule, DomainsModule, TokensModule],
  controllers: [ChangesController, RrsetsController, RecordsController, SyncController],
  providers: [
    RecordsService,
    AllowedRecords,
    ChangeEngine,
    Execution,
    ChangeSets,
    ResumeService,
    ChangeRetention,
    KeptHere,
    HeldLists,
    LateChanges,
    Unclear,
    CancelService,
    ChangeReader,
    BatchService,
    RrsetsService,
    Places,
    RecordCache,
    RecordSyncService,
    AccountSyncService,
    ReadAnew,
  ],
  exports: [
    ReadAnew,
    RecordCache,
    ChangeReader,
    RecordsService,
    ChangeEngine,
    Places,
    RecordSyncService,
    RrsetsService,
  ],
})
export class RecordsModule {}
