import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { GuardModule } from '../auth/guard/guard.module.js';
import { LoginModule } from '../auth/login/login.module.js';
import { OauthModule } from '../auth/oauth/oauth.module.js';
import { PasskeysModule } from '../auth/passkeys/passkeys.module.js';
import { ProfileModule } from '../auth/profile/profile.module.js';
import { DomainsModule } from '../domains/domains.module.js';
import { RedisModule } from '../platform/redis/redis.module.js';
import { TeamsModule } from '../teams/teams.module.js';
import { TokensModule } from '../tokens/tokens.module.js';
import { EventLog } from './event-log.service.js';
import { EventVisibility } from './event-visibility.service.js';
import { EventsLogRepository } from './events-log.repository.js';
import { MetaController } from './meta.controller.js';
import { SiteController } from './site.controller.js';
import { SiteService } from './site.service.js';
import { StreamController } from './stream.controller.js';
import { Streams } from './streams.service.js';
import { Wake } from './wake.service.js';

@Module({
  imports: [
    RedisModule,
    AccountsModule,
    DomainsModule,
    TeamsModule,
    TokensModule,
    GuardModule,
    LoginModule,
    OauthModule,
    PasskeysModule,
    ProfileModule,
  ],
  controllers: [SiteController, MetaController, StreamController],
  providers: [SiteService, EventsLogRepository, EventLog, EventVisibility, Wake, Streams],
})
export class SiteModule {}
