import { hostname } from 'node:os';
import { performance } from 'node:perf_hooks';
import { Injectable } from '@nestjs/common';
import { clockOffsetMs } from '../common/clock.js';
import { VERSION } from '../common/version.js';
import { Db } from '../database/db.js';
import { kindOfSource } from '../database/dump/dump.js';
import { Installation } from '../database/installation.js';
import { JobReader } from '../jobs/job-reader.service.js';
import { RedisLink } from '../redis/redis-link.js';
import { SettingsService } from '../settings/settings.service.js';
import type { DatabaseStatus, DatabaseVersion, SystemStatus } from './system.dto.js';

const SQL = {
  sqlite: {
    version: 'SELECT sqlite_version() AS answer',
    size: 'SELECT page_count * page_size AS answer FROM pragma_page_count(), pragma_page_size()',
  },
  postgresql: {
    version: "SELECT current_setting('server_version') AS answer",
    size: 'SELECT pg_database_size(current_database()) AS answer',
  },
  mysql: {
    version: 'SELECT VERSION() AS answer',
    size: `SELECT SUM(data_length + index_length) AS answer FROM information_schema.tables
            WHERE table_schema = DATABASE()`,
  },
};

/** What the process and its database are, for who runs them. */
@Injectable()
export class StatusService {
  constructor(
    private readonly db: Db,
    private readonly settings: SettingsService,
    private readonly jobs: JobReader,
    private readonly redis: RedisLink,
    private readonly installation: Installation,
  ) {}

  async status(): Promise<SystemStatus> {
    const { rss, heapUsed: heap_used, heapTotal: heap_total } = process.memoryUsage();
    return {
      version: VERSION,
      database: await this.version(),
      uptime: Math.floor(process.uptime()),
      timezone: (await this.settings.read('general')).timezone,
      node: process.version,
      pid: process.pid,
      replica: hostname(),
      memory: { rss, heap_used, heap_total },
      redis: this.redis.state,
      jobs: await this.jobs.count(),
      paused: this.installation.paused,
      clock_offset_seconds: Math.round(clockOffsetMs()) / 1000,
    };
  }

  async database(): Promise<DatabaseStatus> {
    const begun = performance.now();
    await this.db.row('SELECT 1 AS answer');
    const latency_ms = Math.round((performance.now() - begun) * 1000) / 1000;
    const migrations = await this.db.rows<{ name: string }>('SELECT name FROM migrations ORDER BY timestamp');
    const names = this.db.source.entityMetadatas.map(({ tableName }) => tableName).sort();
    const counts = names.map((name) => `SELECT '${name}' AS name, COUNT(*) AS n FROM ${name}`).join(' UNION ALL ');
    const tables = await this.db.rows<{ name: string; n: number }>(counts);
    return {
      ...(await this.version()),
      size_bytes: Number(await this.answer('size')),
      latency_ms,
      migrations: migrations.map(({ name }) => name),
      tables: tables.map(({ name, n }) => ({ name, rows: Number(n) })),
    };
  }

  private async version(): Promise<DatabaseVersion> {
    return { type: kindOfSource(this.db.source), version: String(await this.answer('version')) };
  }

  private async answer(what: 'version' | 'size'): Promise<unknown> {
    return (await this.db.row<{ answer: unknown }>(SQL[kindOfSource(this.db.source)][what]))?.answer;
  }
}
