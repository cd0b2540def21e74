import { Module } from '@nestjs/common';
import { AccountsController } from './accounts.controller.js';
import { AccountsService } from './accounts.service.js';
import { AccountPauses } from './pauses.service.js';
import { ProviderConnections } from './provider-connections.js';
import { ZoneFileDirectory } from './zone-file-directory.js';

@Module({
  controllers: [AccountsController],
  providers: [AccountsService, AccountPauses, ProviderConnections, ZoneFileDirectory],
  exports: [AccountsService, ProviderConnections],
})
export class AccountsModule {}
