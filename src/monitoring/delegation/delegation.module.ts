import { Module } from '@nestjs/common';
import { DomainsModule } from '../../domains/domains.module.js';
import { NotificationsModule } from '../../notifications/notifications.module.js';
import { DnsClientModule } from '../../platform/dns-client/dns-client.module.js';
import { RecordsModule } from '../../records/records.module.js';
import { DelegationsRepository } from './delegations.repository.js';
import { DelegationFinder } from './finder.service.js';
import { DelegationController } from './health.controller.js';
import { ZoneHealth } from './health.service.js';
import { KnownDelegations } from './known.service.js';
import { Looks } from './looks.service.js';
import { NameServers } from './name-servers.service.js';
import { Resolvers } from './resolvers.service.js';
import { DelegationWatch } from './watch.service.js';

@Module({
  imports: [DomainsModule, RecordsModule, DnsClientModule, NotificationsModule],
  controllers: [DelegationController],
  providers: [
    ...[DelegationsRepository, Looks, Resolvers, DelegationFinder, NameServers],
    ...[KnownDelegations, ZoneHealth, DelegationWatch],
  ],
  exports: [DelegationsRepository, Looks, Resolvers, DelegationFinder, NameServers],
})
export class DelegationModule {}
