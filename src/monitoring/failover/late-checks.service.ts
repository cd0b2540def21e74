import { Injectable, type OnModuleInit } from '@nestjs/common';
import { monotonicMs, now } from '../../platform/common/clock.js';
import { lateAfter } from '../../platform/jobs/job-state.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { type Checked, FailoverRulesRepository } from './failover-rules.repository.js';

/** ms for which the late checks are kept: several ask for them in one moment */
const KEEP_MS = 2000;

/** Rules whose checks nobody has made for three of their intervals, as any process sees them. */
@Injectable()
export class LateChecks implements OnModuleInit {
  private late: Promise<Checked[]> = Promise.resolve([]);
  /** in ms of `monotonicMs()` */
  private keptUntil = 0;

  constructor(
    private readonly rules: FailoverRulesRepository,
    private readonly metrics: Metrics,
  ) {}

  onModuleInit(): void {
    this.metrics.provide('zoneward_failover_checks_stopped', async () => ({ rules: (await this.all()).length }));
  }

  /** Why the checks have stopped, in words; null: none is late. */
  async reason(): Promise<string | null> {
    const late = await this.all();
    const [first] = late;
    if (!first) return null;
    const more = late.length > 1 ? `, and of ${late.length - 1} more` : '';
    return `the checks of ${first.name} have not run since ${first.last}${more}`;
  }

  private all(): Promise<Checked[]> {
    if (this.keptUntil < monotonicMs()) {
      this.keptUntil = monotonicMs() + KEEP_MS;
      this.late = this.rules.lastChecks().then((all) => all.filter(isLate));
      this.late.catch(() => {
        this.keptUntil = 0;
      });
    }
    return this.late;
  }
}

const isLate = ({ last, interval_s }: Checked): boolean => last !== null && last < now(-lateAfter(interval_s * 1000));
