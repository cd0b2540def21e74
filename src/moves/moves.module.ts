import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { DomainsModule } from '../domains/domains.module.js';
import { DelegationModule } from '../monitoring/delegation/delegation.module.js';
import { NotificationsModule } from '../notifications/notifications.module.js';
import { RecordsModule } from '../records/records.module.js';
import { TokensModule } from '../tokens/tokens.module.js';
import { TrashModule } from '../trash/trash.module.js';
import { MoveComparison } from './comparison.service.js';
import { Exchange } from './exchange.service.js';
import { MoveFollower } from './follower.service.js';
import { MoveChecks } from './move-checks.service.js';
import { MoveSteps } from './move-steps.service.js';
import { MovesController } from './moves.controller.js';
import { MovesRepository } from './moves.repository.js';
import { MovesService } from './moves.service.js';

@Module({
  imports: [
    AccountsModule,
    DomainsModule,
    NotificationsModule,
    DelegationModule,
    RecordsModule,
    TokensModule,
    TrashModule,
  ],
  controllers: [MovesController],
  providers: [MovesService, MoveSteps, MoveFollower, MoveComparison, MoveChecks, Exchange, MovesRepository],
})
export class MovesModule {}
