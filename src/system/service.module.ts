import { Inject, Injectable, Module, type OnModuleInit } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import type { Config } from '../platform/config/config.js';
import { CONFIG } from '../platform/config/config.module.js';
import { Jobs } from '../platform/jobs/jobs.js';
import { RecordsModule } from '../records/records.module.js';
import { BackupsService } from './backups.service.js';
import { CacheController } from './cache.controller.js';
import { SystemModule } from './system.module.js';

const HOUR_MS = 3_600_000;

@Injectable()
class BackupSchedule implements OnModuleInit {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly jobs: Jobs,
    private readonly backups: BackupsService,
  ) {}

  onModuleInit(): void {
    const { everyHours } = this.config.backup;
    if (everyHours) this.jobs.schedule('backup', everyHours * HOUR_MS, () => this.backups.scheduled());
  }
}

/** For the service only, not for administration commands. */
@Module({
  imports: [SystemModule, AccountsModule, RecordsModule],
  controllers: [CacheController],
  providers: [BackupSchedule],
})
export class SystemServiceModule {}
