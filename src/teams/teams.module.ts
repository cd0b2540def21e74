import { Module } from '@nestjs/common';
import { DomainsModule } from '../domains/domains.module.js';
import { SecurityModule } from '../security/security.module.js';
import { MembersController } from './members.controller.js';
import { MembersService } from './members.service.js';
import { PermissionsController } from './permissions.controller.js';
import { PermissionsService } from './permissions.service.js';
import { TeamsController } from './teams.controller.js';
import { TeamsService } from './teams.service.js';

@Module({
  imports: [DomainsModule, SecurityModule],
  controllers: [TeamsController, MembersController, PermissionsController],
  providers: [TeamsService, MembersService, PermissionsService],
})
export class TeamsModule {}
