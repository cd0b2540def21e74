import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { TeamsModule } from '../teams/teams.module.js';
import { CacheAges } from './cache-ages.service.js';
import { DomainEnds } from './domain-ends.service.js';
import { DomainOwners } from './domain-owners.service.js';
import { DomainPermissionsController } from './domain-permissions.controller.js';
import { DomainPolicy } from './domain-policy.js';
import { DomainsController } from './domains.controller.js';
import { DomainsService } from './domains.service.js';
import { PermissionsController } from './permissions.controller.js';
import { PermissionsService } from './permissions.service.js';
import { SharedZones } from './shared-zones.service.js';
import { ZoneFacts } from './zone-facts.service.js';
import { Zones } from './zones.service.js';

@Module({
  imports: [AccountsModule, TeamsModule],
  controllers: [DomainsController, DomainPermissionsController, PermissionsController],
  providers: [
    ...[DomainsService, DomainPolicy, PermissionsService, Zones, ZoneFacts, SharedZones, CacheAges, DomainEnds],
    DomainOwners,
  ],
  exports: [DomainsService, DomainPolicy, Zones, ZoneFacts, SharedZones, DomainEnds, DomainOwners],
})
export class DomainsModule {}
