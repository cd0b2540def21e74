import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { DomainStateRepository } from '../domains/domain-state.repository.js';
import { Db } from '../platform/database/db.js';
import { RecordCountsRepository } from './record-counts.repository.js';

/** rows of one statement: SQLite does nothing else meanwhile */
const PIECE = 250;

const COLUMNS = `id, domain_id, remote_id, host, type, value, ttl, line, proxied, priority, weight, enabled, remark, read_only,
  expires_at, end_maker_id, end_maker_token_id, end_hold_reason, extra, read_only_reason, pending, updated_at, created_at, search`;

/** Of a piece of a domain's rows the last id, and what is done to those up to it. */
const PIECES = `WHERE domain_id = ? AND id > ? ORDER BY id LIMIT ${PIECE}`;
const THOSE = 'WHERE domain_id = ? AND id > ? AND id <= ?';
const LIVE = `SELECT MAX(id) AS id FROM (SELECT id FROM dns_records ${PIECES}) piece`;
const KEPT = `SELECT MAX(id) AS id FROM (SELECT id FROM trashed_records ${PIECES}) piece`;
const COPY = `INSERT INTO trashed_records (${COLUMNS}) SELECT ${COLUMNS} FROM dns_records ${THOSE}`;
const BRING_BACK = `INSERT INTO dns_records (${COLUMNS}) SELECT ${COLUMNS} FROM trashed_records ${THOSE}`;
const DROP = `DELETE FROM dns_records ${THOSE}`;
const CLEAR = `DELETE FROM trashed_records ${THOSE}`;

/**
 * Records on their way into the trash and back, under their ids. Rows move by statements of a bounded number of rows.
 * What is in the trash counts only as long as its domain is there: all else is a copy that was not needed in the end.
 */
@Injectable()
export class TrashedRecords {
  constructor(
    private readonly db: Db,
    private readonly counts: RecordCountsRepository,
    private readonly state: DomainStateRepository,
  ) {}

  /** Copies the records of a domain into the trash, in place of what is there, each piece by itself. */
  async copy(domainId: number): Promise<void> {
    await this.clear(domainId);
    await this.each(domainId, LIVE, COPY);
  }

  /** Takes the records of a domain that goes away, in the transaction that deletes it. */
  drop(domainId: number, manager: EntityManager): Promise<void> {
    return this.each(domainId, LIVE, DROP, manager);
  }

  /** Gives a domain that has none its records back, in the transaction that adds it. */
  async bringBack(domainId: number, manager: EntityManager): Promise<void> {
    await this.each(domainId, KEPT, BRING_BACK, manager);
    await this.state.setRecords(domainId, await this.counts.recount(domainId, manager), manager);
  }

  /** Removes what is in the trash of a domain, each piece by itself. */
  clear(domainId: number): Promise<void> {
    return this.each(domainId, KEPT, CLEAR);
  }

  /** The next domain behind one that has records in the trash; null: there is none. */
  async nextDomain(after: number): Promise<number | null> {
    const sql = 'SELECT MIN(domain_id) AS id FROM trashed_records WHERE domain_id > ?';
    const id = (await this.db.row<{ id: number | null }>(sql, [after]))?.id ?? null;
    return id === null ? null : Number(id);
  }

  private async each(domainId: number, piece: string, work: string, manager?: EntityManager): Promise<void> {
    for (let after = 0; ; ) {
      const last = Number((await this.db.row<{ id: number | null }>(piece, [domainId, after], manager))?.id ?? 0);
      if (!last) return;
      await this.db.run(work, [domainId, after, last], manager);
      after = last;
    }
  }
}
