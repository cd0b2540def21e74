import { Injectable, Module, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { log } from '../../common/logger.js';
import { DatabaseService } from '../../database/database.service.js';
import { LimitsModule } from '../../limits/limits.module.js';
import { LimitsService } from '../../limits/limits.service.js';
import { ChallengesService } from './challenges.service.js';
import { SessionsModule } from './sessions.module.js';
import { SessionsService } from './sessions.service.js';

const HOUR_MS = 3_600_000;

/** Clears away what has expired: sessions, challenges, counters. Harmless when several replicas do it. */
@Injectable()
class Housekeeping implements OnApplicationBootstrap, OnApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly database: DatabaseService,
    private readonly sessions: SessionsService,
    private readonly challenges: ChallengesService,
    private readonly limits: LimitsService,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => void this.sweep(), HOUR_MS).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  private async sweep(): Promise<void> {
    if (!this.database.open) return;
    try {
      await this.sessions.prune();
      await this.challenges.prune();
      await this.limits.prune();
    } catch (error) {
      log().warn({ err: error }, 'expired sessions and challenges could not be cleared away; trying again in an hour');
    }
  }
}

/** For the service only: the administration commands do without. */
@Module({ imports: [SessionsModule, LimitsModule], providers: [Housekeeping] })
export class SessionJobsModule {}
