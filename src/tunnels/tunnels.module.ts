import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { DomainsModule } from '../domains/domains.module.js';
import { RecordsModule } from '../records/records.module.js';
import { TokensModule } from '../tokens/tokens.module.js';
import { Cnames } from './cnames.service.js';
import { Creation } from './creation.service.js';
import { Settling } from './settling.service.js';
import { TunnelPoller } from './tunnel-poller.service.js';
import { TunnelsController } from './tunnels.controller.js';
import { TunnelsRepository } from './tunnels.repository.js';
import { TunnelsService } from './tunnels.service.js';

@Module({
  imports: [AccountsModule, DomainsModule, RecordsModule, TokensModule],
  controllers: [TunnelsController],
  providers: [TunnelsService, Creation, TunnelsRepository, Cnames, Settling, TunnelPoller],
})
export class TunnelsModule {}
