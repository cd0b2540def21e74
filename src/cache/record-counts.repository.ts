import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Db, marks } from '../platform/database/db.js';

/** How many records of each type a domain has, and in all: exact, kept in the transaction that changes the rows. */
@Injectable()
export class RecordCountsRepository {
  constructor(private readonly db: Db) {}

  /** So many more of a type, or fewer. */
  async add(domainId: number, type: string, more: number, manager: EntityManager): Promise<void> {
    const sql = 'UPDATE record_counts SET hits = hits + ? WHERE domain_id = ? AND type = ?';
    if (await this.db.run(sql, [more, domainId, type], manager)) return;
    const first = 'INSERT INTO record_counts (domain_id, type, hits) VALUES (?, ?, ?)';
    await this.db.run(first, [domainId, type, more], manager);
  }

  /** Recounts the rows of a domain. @returns how many there are in all */
  async recount(domainId: number, manager: EntityManager): Promise<number> {
    await this.db.run('DELETE FROM record_counts WHERE domain_id = ?', [domainId], manager);
    await this.db.run(
      `INSERT INTO record_counts (domain_id, type, hits)
       SELECT domain_id, type, COUNT(*) FROM dns_records WHERE domain_id = ? GROUP BY domain_id, type`,
      [domainId],
      manager,
    );
    const sum = 'SELECT COALESCE(SUM(hits), 0) AS n FROM record_counts WHERE domain_id = ?';
    return Number((await this.db.row<{ n: number | string }>(sum, [domainId], manager))?.n);
  }

  /** How many records of some types a domain has. */
  async of(domainId: number, types: readonly string[]): Promise<number> {
    const sql = `SELECT COALESCE(SUM(hits), 0) AS n FROM record_counts WHERE domain_id = ? AND type IN (${marks(types.length)})`;
    return Number((await this.db.row<{ n: number | string }>(sql, [domainId, ...types]))?.n);
  }
}
