import { Module } from '@nestjs/common';
import { LimitsModule } from '../platform/limits/limits.module.js';
import { UsersModule } from '../users/users.module.js';
import { Approvers } from './approvers.service.js';
import { MembersController } from './members.controller.js';
import { MembersService } from './members.service.js';
import { TeamMembersRepository } from './team-members.repository.js';
import { TeamsController } from './teams.controller.js';
import { TeamsRepository } from './teams.repository.js';
import { TeamsService } from './teams.service.js';

@Module({
  imports: [LimitsModule, UsersModule],
  controllers: [TeamsController, MembersController],
  providers: [TeamsRepository, TeamMembersRepository, TeamsService, MembersService, Approvers],
  exports: [TeamsService, Approvers],
})
export class TeamsModule {}
