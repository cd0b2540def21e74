import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Db } from '../../platform/database/db.js';

/** Whether the rules of a domain are followed. */
@Injectable()
export class FailoversRepository {
  constructor(private readonly db: Db) {}

  /** Null: the domain has no configuration. */
  async enabled(domainId: number, manager?: EntityManager): Promise<boolean | null> {
    const sql = 'SELECT enabled FROM failovers WHERE domain_id = ?';
    const row = await this.db.row<{ enabled: boolean | number }>(sql, [domainId], manager);
    return row ? Boolean(row.enabled) : null;
  }

  async add(domainId: number, enabled: boolean, manager: EntityManager): Promise<void> {
    await this.db.insert('failovers', { domain_id: domainId, enabled }, manager);
  }

  async setEnabled(domainId: number, enabled: boolean, manager: EntityManager): Promise<void> {
    await this.db.run('UPDATE failovers SET enabled = ? WHERE domain_id = ?', [enabled, domainId], manager);
  }

  async remove(domainId: number, manager: EntityManager): Promise<void> {
    await this.db.run('DELETE FROM failovers WHERE domain_id = ?', [domainId], manager);
  }
}
