import { Module } from '@nestjs/common';
import { SecurityModule } from '../security/security.module.js';
import { MembersController } from './members.controller.js';
import { MembersService } from './members.service.js';
import { TeamsController } from './teams.controller.js';
import { TeamsService } from './teams.service.js';

@Module({
  imports: [SecurityModule],
  controllers: [TeamsController, MembersController],
  providers: [TeamsService, MembersService],
  exports: [TeamsService],
})
export class TeamsModule {}
