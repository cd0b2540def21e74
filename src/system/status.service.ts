import { hostname } from 'node:os';
import { performance } from 'node:perf_hooks';
import { Injectable } from '@nestjs/common';
import { clockOffsetMs } from '../platform/common/clock.js';
import { VERSION } from '../platform/common/version.js';
import { AppDataSource } from '../platform/database/app-data-source.js';
import { Installation } from '../platform/database/installation.js';
import { kindOfSource } from '../platform/dump/dump.js';
import { JobReader } from '../platform/jobs/job-reader.service.js';
import { RedisLink } from '../platform/redis/redis-link.js';
import { SettingsService } from '../settings/settings.service.js';
import { DatabaseStatusRepository } from './database-status.repository.js';
import type { DatabaseStatus, DatabaseVersion, SystemStatus } from './system.dto.js';

/** The state of the process and its database, for operators. */
@Injectable()
export class StatusService {
  constructor(
    private readonly source: AppDataSource,
    private readonly facts: DatabaseStatusRepository,
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
    await this.facts.ping();
    const latency_ms = Math.round((performance.now() - begun) * 1000) / 1000;
    const migrations = await this.facts.migrations();
    const tables = await this.facts.tables();
    return {
      ...(await this.version()),
      size_bytes: await this.facts.size(),
      latency_ms,
      migrations,
      tables,
    };
  }

  private async version(): Promise<DatabaseVersion> {
    return { type: kindOfSource(this.source), version: await this.facts.version() };
  }
}
