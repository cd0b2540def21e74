import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { TeamsModule } from '../teams/teams.module.js';
import { CacheAges } from './cache-ages.service.js';
import { DomainChanges } from './domain-changes.service.js';
import { DomainEndsRepository } from './domain-ends.repository.js';
import { DomainPermissionsController } from './domain-permissions.controller.js';
import { DomainPermissionsRepository } from './domain-permissions.repository.js';
import { DomainPolicy } from './domain-policy.js';
import { DomainStateRepository } from './domain-state.repository.js';
import { DomainSummariesRepository } from './domain-summaries.repository.js';
import { DomainsController } from './domains.controller.js';
import { DomainsRepository } from './domains.repository.js';
import { DomainsService } from './domains.service.js';
import { NewDomains } from './new-domains.js';
import { PermissionsController } from './permissions.controller.js';
import { PermissionsService } from './permissions.service.js';
import { ReadableDomainsRepository } from './readable-domains.repository.js';
import { SharedZonesRepository } from './shared-zones.repository.js';
import { SharedZones } from './shared-zones.service.js';
import { ZoneFacts } from './zone-facts.service.js';
import { Zones } from './zones.service.js';

@Module({
  imports: [AccountsModule, TeamsModule],
  controllers: [DomainsController, DomainPermissionsController, PermissionsController],
  providers: [
    ...[DomainsRepository, ReadableDomainsRepository, SharedZonesRepository],
    ...[DomainEndsRepository, DomainPermissionsRepository, DomainStateRepository, DomainSummariesRepository],
    ...[DomainsService, DomainChanges, NewDomains, DomainPolicy, PermissionsService],
    ...[Zones, ZoneFacts, SharedZones, CacheAges],
  ],
  exports: [
    ...[DomainsRepository, DomainEndsRepository, DomainStateRepository, DomainSummariesRepository],
    ...[DomainPermissionsRepository, DomainChanges, NewDomains],
    ...[DomainsService, DomainPolicy, Zones, ZoneFacts, SharedZones, TeamsModule],
  ],
})
export class DomainsModule {}
