import { Injectable, Module, type OnModuleInit } from '@nestjs/common';
import { now } from '../../platform/common/clock.js';
import { Jobs } from '../../platform/jobs/jobs.js';
import { LimitsModule } from '../../platform/limits/limits.module.js';
import { LimitsService } from '../../platform/limits/limits.service.js';
import { ChallengesRepository } from './challenges.repository.js';
import { SessionsModule } from './sessions.module.js';
import { SessionsRepository } from './sessions.repository.js';

const HOUR_MS = 3_600_000;

/** Deletes expired sessions, challenges and counters. */
@Injectable()
class ExpirySweep implements OnModuleInit {
  constructor(
    private readonly jobs: Jobs,
    private readonly sessions: SessionsRepository,
    private readonly challenges: ChallengesRepository,
    private readonly limits: LimitsService,
  ) {}

  onModuleInit(): void {
    this.jobs.schedule('sessions.sweep', HOUR_MS, async () => {
      await this.sessions.deleteExpired(now());
      await this.challenges.deleteExpired(now());
      await this.limits.prune();
    });
  }
}

/** For the service only: the administration commands do without. */
@Module({ imports: [SessionsModule, LimitsModule], providers: [ExpirySweep] })
export class SessionJobsModule {}
