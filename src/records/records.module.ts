import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { CacheModule } from '../cache/cache.module.js';
import { ChangesModule } from '../changes/changes.module.js';
import { PlanBuilder } from '../changes/plans/plan-builder.service.js';
import { PlanGroupsRepository } from '../changes/plans/plan-groups.repository.js';
import { PlansRepository } from '../changes/plans/plans.repository.js';
import { WaitingPlans } from '../changes/plans/waiting-plans.service.js';
import { DomainsModule } from '../domains/domains.module.js';
import { RatesModule } from '../platform/rates/rates.module.js';
import { TokensModule } from '../tokens/tokens.module.js';
import { AllowedRecords } from './allowed-records.js';
import { BatchService } from './batch/batch.service.js';
import { DriftController } from './drift/drift.controller.js';
import { DriftService } from './drift/drift.service.js';
import { DriftReverts } from './drift/drift-reverts.service.js';
import { ExportController } from './export/export.controller.js';
import { ExportService } from './export/export.service.js';
import { ChangeReader } from './history/change-reader.service.js';
import { ChangesController } from './history/changes.controller.js';
import { EveryChangeController } from './history/every-change.controller.js';
import { VersionReader } from './history/version-reader.service.js';
import { VersionsController } from './history/versions.controller.js';
import { ApprovalsController } from './plans/approvals.controller.js';
import { ApprovalsService } from './plans/approvals.service.js';
import { DryRuns } from './plans/dry-runs.service.js';
import { GroupRuns } from './plans/group-runs.service.js';
import { PlanGroups } from './plans/groups.service.js';
import { PlanStore } from './plans/plan-store.service.js';
import { PlanTargets } from './plans/plan-targets.service.js';
import { DomainPlansController, PlansController } from './plans/plans.controller.js';
import { PlansService } from './plans/plans.service.js';
import { WriteInterceptor } from './plans/write.interceptor.js';
import { RecordsController } from './records.controller.js';
import { RecordsService } from './records.service.js';
import { RrsetsController } from './rrsets/rrsets.controller.js';
import { RrsetsService } from './rrsets/rrsets.service.js';
import { AccountSyncService } from './sync/account-sync.service.js';
import { FullResync } from './sync/full-resync.service.js';
import { SyncController } from './sync/sync.controller.js';

@Module({
  imports: [AccountsModule, DomainsModule, TokensModule, CacheModule, ChangesModule, RatesModule],
  controllers: [
    EveryChangeController,
    ChangesController,
    VersionsController,
    DomainPlansController,
    PlansController,
    ApprovalsController,
    DriftController,
    RrsetsController,
    RecordsController,
    ExportController,
    SyncController,
  ],
  providers: [
    RecordsService,
    AllowedRecords,
    ChangeReader,
    VersionReader,
    PlansService,
    PlanStore,
    PlanGroups,
    GroupRuns,
    PlanGroupsRepository,
    ApprovalsService,
    WaitingPlans,
    PlanTargets,
    PlanBuilder,
    DryRuns,
    DriftService,
    DriftReverts,
    WriteInterceptor,
    PlansRepository,
    BatchService,
    ExportService,
    RrsetsService,
    AccountSyncService,
    FullResync,
  ],
  // with what it stands on
  exports: [
    ...[CacheModule, AllowedRecords, ChangesModule, FullResync, ChangeReader, RecordsService, RrsetsService],
    VersionReader,
    ...[PlansService, PlanGroups, BatchService, WaitingPlans, WriteInterceptor],
  ],
})
export class RecordsModule {}
