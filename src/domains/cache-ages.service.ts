import { Injectable, type OnModuleInit } from '@nestjs/common';
import { now } from '../common/clock.js';
import { Db } from '../database/db.js';
import { provide } from '../metrics/metrics.js';

const HOUR_MS = 3_600_000;

/** Tells the metrics how old the cache is: one pass over the domains, none over their records. */
@Injectable()
export class CacheAges implements OnModuleInit {
  constructor(private readonly db: Db) {}

  onModuleInit(): void {
    provide('zoneward_domains', () => this.byAge('COUNT(*)'));
    provide('zoneward_cached_records', () => this.byAge('SUM(records_count)'));
  }

  /** By how long ago the domains' caches followed their providers. */
  private async byAge(what: string): Promise<Record<string, number>> {
    const sql = `SELECT CASE WHEN synced_at IS NULL THEN 'never' WHEN synced_at > ? THEN 'hour' WHEN synced_at > ? THEN 'day'
        WHEN synced_at > ? THEN 'week' ELSE 'older' END AS age, ${what} AS n FROM domains WHERE status = 'active' GROUP BY 1`;
    const ages = [HOUR_MS, 24 * HOUR_MS, 7 * 24 * HOUR_MS].map((ms) => now(-ms));
    const rows = await this.db.rows<{ age: string; n: number | string }>(sql, ages);
    const none = { hour: 0, day: 0, week: 0, older: 0, never: 0 };
    return { ...none, ...Object.fromEntries(rows.map(({ age, n }) => [age, Number(n)])) };
  }
}
