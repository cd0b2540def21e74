import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { CacheModule } from '../cache/cache.module.js';
import { DomainsModule } from '../domains/domains.module.js';
import { TokensModule } from '../tokens/tokens.module.js';
import { ChangeAttempts } from './attempts.service.js';
import { CancelService } from './cancel.service.js';
import { ChangeSets } from './change-sets.js';
import { ChangeSetsRepository } from './change-sets.repository.js';
import { ChangeEngine } from './engine.service.js';
import { ChangeExecutor } from './executor.service.js';
import { HeldLists } from './held.service.js';
import { InDoubtChanges } from './in-doubt-changes.js';
import { InFlightWrites } from './in-flight-writes.js';
import { LocalOnlyRecords } from './local-only-records.js';
import { Places } from './places.js';
import { Planner } from './planner.js';
import { RecordChangesRepository } from './record-changes.repository.js';
import { RecordSyncService } from './record-sync.service.js';
import { ResumeService } from './resume.service.js';
import { ChangeRetention } from './retention.service.js';

@Module({
  imports: [AccountsModule, DomainsModule, TokensModule, CacheModule],
  providers: [
    ChangeEngine,
    ChangeAttempts,
    Planner,
    ChangeExecutor,
    ChangeSets,
    ChangeSetsRepository,
    RecordChangesRepository,
    ResumeService,
    ChangeRetention,
    LocalOnlyRecords,
    HeldLists,
    InFlightWrites,
    InDoubtChanges,
    CancelService,
    Places,
    RecordSyncService,
  ],
  exports: [
    ChangeSetsRepository,
    RecordChangesRepository,
    ChangeEngine,
    Planner,
    ResumeService,
    HeldLists,
    CancelService,
    Places,
    RecordSyncService,
  ],
})
export class ChangesModule {}
