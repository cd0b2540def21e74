import { Module } from '@nestjs/common';
import { DomainsModule } from '../../domains/domains.module.js';
import { RecordsModule } from '../../records/records.module.js';
import { TokensModule } from '../../tokens/tokens.module.js';
import { Checker } from './checks/checker.service.js';
import { CheckerNodesRepository } from './checks/checker-nodes.repository.js';
import { CheckerQuestionsRepository } from './checks/checker-questions.repository.js';
import { ChecksController } from './checks/checks.controller.js';
import { Votes } from './checks/votes.service.js';
import { FailoverController } from './failover.controller.js';
import { FailoverService } from './failover.service.js';
import { FailoverRulesRepository } from './failover-rules.repository.js';
import { FailoversRepository } from './failovers.repository.js';
import { LateChecks } from './late-checks.service.js';
import { MassSwitch } from './mass-switch.service.js';
import { RuleHolds } from './rule-holds.service.js';
import { RuleRights } from './rule-rights.service.js';
import { SwitchQueue } from './switch-queue.service.js';
import { SwitchReview } from './switch-review.service.js';
import { Switcher } from './switcher.service.js';
import { Watch } from './watch.service.js';
import { ZoneReadings } from './zone-readings.service.js';

@Module({
  imports: [DomainsModule, RecordsModule, TokensModule],
  controllers: [FailoverController, ChecksController],
  providers: [
    FailoverService,
    FailoversRepository,
    FailoverRulesRepository,
    RuleRights,
    RuleHolds,
    Switcher,
    SwitchReview,
    MassSwitch,
    SwitchQueue,
    ZoneReadings,
    Watch,
    LateChecks,
    Votes,
    Checker,
    CheckerNodesRepository,
    CheckerQuestionsRepository,
  ],
  exports: [FailoverRulesRepository],
})
export class FailoverModule {}
