import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Maker } from '../../access/maker.js';
import { Db } from '../../platform/database/db.js';
import type { DriftRevert } from './drift.entity.js';

export type StoredRevert = Omit<DriftRevert, 'domain'>;

/** domains that one statement reads */
const PAGE = 500;

/** Domains of which what somebody changes at the provider is taken back. */
@Injectable()
export class DriftRevertsRepository {
  constructor(private readonly db: Db) {}

  /** From now on, or from now on in the name of another maker. */
  async begin(domainId: number, maker: Maker, at: string, manager: EntityManager): Promise<void> {
    await this.end(domainId, manager);
    await this.db.insert('drift_reverts', { domain_id: domainId, ...maker, created_at: at }, manager);
  }

  async end(domainId: number, manager: EntityManager): Promise<void> {
    await this.db.run('DELETE FROM drift_reverts WHERE domain_id = ?', [domainId], manager);
  }

  one(domainId: number): Promise<StoredRevert | undefined> {
    const sql = `SELECT id, domain_id, maker_id, maker_token_id, hold_reason, created_at FROM drift_reverts
      WHERE domain_id = ?`;
    return this.db.row(sql, [domainId]);
  }

  /** The next domains with something to take back, in the order of their ids. */
  async due(after: number): Promise<number[]> {
    const sql = `SELECT r.domain_id FROM drift_reverts r WHERE r.hold_reason IS NULL AND r.domain_id > ?
      AND EXISTS (SELECT 1 FROM drift_sets s WHERE s.domain_id = r.domain_id AND s.hold_reason IS NULL)
      ORDER BY r.domain_id LIMIT ${PAGE}`;
    return (await this.db.rows<{ domain_id: number }>(sql, [after])).map(({ domain_id }) => domain_id);
  }

  /** Nothing is taken back until somebody sets another value. @returns 0 where somebody has, or it is held already */
  hold(id: number, reason: string, manager: EntityManager): Promise<number> {
    const sql = 'UPDATE drift_reverts SET hold_reason = ? WHERE id = ? AND hold_reason IS NULL';
    return this.db.run(sql, [reason, id], manager);
  }
}
