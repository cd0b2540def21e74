import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { log } from '../common/logger.js';
import { Db } from '../database/db.js';
import { DomainsService } from '../domains/domains.service.js';
import { RecordSyncService } from './record-sync.service.js';

/** Reads the records of all domains at their providers, one domain after the other, for who mistrusts the cache. */
@Injectable()
export class ReadAnew implements OnModuleDestroy {
  private running = false;
  private stopping = false;

  constructor(
    private readonly db: Db,
    private readonly domains: DomainsService,
    private readonly sync: RecordSyncService,
  ) {}

  /** Begins, unless it is at it already. @returns how many cached records are compared with their providers */
  async begin(): Promise<number> {
    const sql = "SELECT id, records_count FROM domains WHERE status = 'active' ORDER BY id";
    const rows = await this.db.rows<{ id: number; records_count: number }>(sql);
    if (!this.running) void this.all(rows.map(({ id }) => id));
    return rows.reduce((sum, row) => sum + row.records_count, 0);
  }

  onModuleDestroy(): void {
    this.stopping = true;
  }

  private async all(ids: number[]): Promise<void> {
    this.running = true;
    for (const id of ids) {
      if (this.stopping) break;
      try {
        await this.sync.refresh(await this.domains.reload(id), 'system');
      } catch (error) {
        log().warn({ domain: id, err: (error as Error).message }, 'records could not be read anew');
      }
    }
    this.running = false;
  }
}
