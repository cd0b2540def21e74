import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { CacheModule } from '../cache/cache.module.js';
import { DomainsModule } from '../domains/domains.module.js';
import { TokensModule } from '../tokens/tokens.module.js';
import { ChangeAttempts } from './attempts.service.js';
import { CancelService } from './cancel.service.js';
import { ChangeSets } from './change-sets.js';
import { ChangeCommits } from './commit.service.js';
import { DriftRevertsRepository } from './drift/drift-reverts.repository.js';
import { DriftSetsRepository } from './drift/drift-sets.repository.js';
import { DriftSets } from './drift/drift-sets.service.js';
import { Places } from './edits/edit.js';
import { EndedRecords } from './ended-records.service.js';
import { ChangeEngine } from './engine.service.js';
import { ChangeExecutor } from './executor.service.js';
import { ChangeGate } from './gate/change-gate.service.js';
import { HeldNames } from './gate/held-names.js';
import { HeldLists } from './held.service.js';
import { ChangeSetsRepository } from './history/change-sets.repository.js';
import { InDoubtRepository } from './history/in-doubt.repository.js';
import { ListedChangeSetsRepository } from './history/listed-change-sets.repository.js';
import { PastRepository } from './history/past.repository.js';
import { RecordChangesRepository } from './history/record-changes.repository.js';
import { RemovedHistory } from './history/removed-history.repository.js';
import { Versions } from './history/versions.js';
import { VersionsRepository } from './history/versions.repository.js';
import { FoundChanges } from './in-doubt/found-changes.js';
import { InDoubtChanges } from './in-doubt/in-doubt-changes.js';
import { InFlightWrites } from './in-doubt/in-flight-writes.js';
import { LocalOnlyRecords } from './in-doubt/local-only-records.js';
import { RecordSyncService } from './in-doubt/record-sync.service.js';
import { Settling } from './in-doubt/settling.js';
import { Planner } from './planner.js';
import { ResumeService } from './resume.service.js';
import { ChangeRetention } from './retention.service.js';

@Module({
  imports: [AccountsModule, DomainsModule, TokensModule, CacheModule],
  providers: [
    ChangeEngine,
    ChangeAttempts,
    Planner,
    ChangeGate,
    HeldNames,
    ChangeExecutor,
    ChangeCommits,
    ChangeSets,
    ChangeSetsRepository,
    ListedChangeSetsRepository,
    RecordChangesRepository,
    InDoubtRepository,
    VersionsRepository,
    PastRepository,
    RemovedHistory,
    Versions,
    ResumeService,
    EndedRecords,
    ChangeRetention,
    DriftSets,
    DriftSetsRepository,
    DriftRevertsRepository,
    LocalOnlyRecords,
    FoundChanges,
    Settling,
    HeldLists,
    InFlightWrites,
    InDoubtChanges,
    CancelService,
    Places,
    RecordSyncService,
  ],
  exports: [
    ChangeSetsRepository,
    ListedChangeSetsRepository,
    RecordChangesRepository,
    InDoubtRepository,
    PastRepository,
    DriftSets,
    DriftSetsRepository,
    DriftRevertsRepository,
    RemovedHistory,
    ChangeEngine,
    ChangeGate,
    HeldNames,
    Planner,
    ResumeService,
    HeldLists,
    CancelService,
    Places,
    RecordSyncService,
    FoundChanges,
  ],
})
export class ChangesModule {}
