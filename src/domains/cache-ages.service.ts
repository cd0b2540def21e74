import { Injectable, type OnModuleInit } from '@nestjs/common';
import { now } from '../platform/common/clock.js';
import { Metrics } from '../platform/metrics/metrics.js';
import { DomainsRepository } from './domains.repository.js';

const HOUR_MS = 3_600_000;

/** Metrics of the age of the cache: one pass over the domains, none over their records. */
@Injectable()
export class CacheAges implements OnModuleInit {
  constructor(
    private readonly domains: DomainsRepository,
    private readonly metrics: Metrics,
  ) {}

  onModuleInit(): void {
    this.metrics.provide('zoneward_domains', () => this.byAge('domains'));
    this.metrics.provide('zoneward_cached_records', () => this.byAge('records'));
  }

  private async byAge(what: 'domains' | 'records'): Promise<Record<string, number>> {
    const ages = [HOUR_MS, 24 * HOUR_MS, 7 * 24 * HOUR_MS].map((ms) => now(-ms));
    const none = { hour: 0, day: 0, week: 0, older: 0, never: 0 };
    return { ...none, ...(await this.domains.countByAge(what, ages)) };
  }
}
