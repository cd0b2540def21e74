import { Module } from '@nestjs/common';
import { AccountsModule } from '../../accounts/accounts.module.js';
import { DomainsModule } from '../../domains/domains.module.js';
import { DelegationModule } from '../../monitoring/delegation/delegation.module.js';
import { ExpiryModule } from '../../monitoring/expiry/expiry.module.js';
import { FailoverModule } from '../../monitoring/failover/failover.module.js';
import { RecordsModule } from '../../records/records.module.js';
import { AttentionService } from './attention.service.js';
import { DashboardController } from './dashboard.controller.js';
import { DashboardService } from './dashboard.service.js';

@Module({
  imports: [AccountsModule, DomainsModule, RecordsModule, DelegationModule, ExpiryModule, FailoverModule],
  controllers: [DashboardController],
  providers: [DashboardService, AttentionService],
})
export class DashboardModule {}
