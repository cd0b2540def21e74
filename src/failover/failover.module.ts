import { Module } from '@nestjs/common';
import { DomainsModule } from '../domains/domains.module.js';
import { RecordsModule } from '../records/records.module.js';
import { TokensModule } from '../tokens/tokens.module.js';
import { CheckerStore } from './checker-store.js';
import { ChecksController } from './checks.controller.js';
import { FailoverController } from './failover.controller.js';
import { FailoverService } from './failover.service.js';
import { MassSwitch } from './mass-switch.service.js';
import { RuleRights } from './rule-rights.service.js';
import { RuleStore } from './rule-store.js';
import { Switcher } from './switcher.service.js';
import { Votes } from './votes.service.js';
import { Watch } from './watch.service.js';

@Module({
  imports: [DomainsModule, RecordsModule, TokensModule],
  controllers: [FailoverController, ChecksController],
  providers: [FailoverService, RuleStore, CheckerStore, RuleRights, Switcher, MassSwitch, Votes, Watch],
})
export class FailoverModule {}
