import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { RowValues } from '../../cache/reconcile.js';
import type { Own } from '../../cache/record-cache.js';
import { Db, marks } from '../../platform/database/db.js';
import type { Late } from '../../platform/outbound/outbound-error.js';
import type { ChangedHosts } from './change-set.entity.js';
import { pieces, type StoredStates } from './record-changes.repository.js';

/** A change that was sent to the provider, and of which nobody knows whether it was applied. */
export interface InDoubtChange {
  id: number;
  change_set_id: number;
  /** of a list that is done whole or not at all */
  atomic: boolean;
  /** of the cached record; null for a creation */
  record_id: number | null;
  host: string;
  host_before: string | null;
  /** null: there was none, or, of a change from before such were kept, nobody knows */
  before: RowValues | null;
  /** null after a deletion, and as `before` */
  after: RowValues | null;
  /** what only we know of the row before and after; null: as `after` */
  own: { from: Own; to: Own } | null;
  /** see `RecordChange.expected` */
  expected: string | null;
  /** only a list that was begun after this proves that it was not applied */
  settle_after: string | null;
  /** whether the provider may still carry it out until then, though something of it be seen (`again`) */
  late: Late;
}
type InDoubtRow = Omit<InDoubtChange, 'before' | 'after' | 'own' | 'atomic'> &
  StoredStates & { atomic: boolean | number };

/** Changes of which nobody knows whether they were applied. */
@Injectable()
export class InDoubtRepository {
  constructor(private readonly db: Db) {}

  /** The names of what was sent for these domains and has no end. */
  hostsInDoubt(domainIds: readonly number[]): Promise<ChangedHosts[]> {
    return this.db.rows(
      `SELECT DISTINCT c.host, c.host_before FROM record_changes c JOIN change_sets s ON s.id = c.change_set_id
        WHERE s.domain_id IN (${marks(domainIds.length)}) AND s.state <> 'done'
          AND (c.state = 'unknown' OR (c.state = 'pending' AND c.tried_at IS NOT NULL))`,
      domainIds,
    );
  }

  /** What was sent by a process that is gone is in doubt. */
  async leaveInDoubt(set: number, settleAfter: string, manager: EntityManager): Promise<void> {
    await this.db.run(
      // the provider may be at what the process asked for before it ended
      `UPDATE record_changes SET state = 'unknown', late = 'once', settle_after = ?
          WHERE change_set_id = ? AND state = 'pending' AND tried_at IS NOT NULL`,
      [settleAfter, set],
      manager,
    );
  }

  /** The cached records that changes in doubt of a set touch. */
  async recordsInDoubt(set: number, manager: EntityManager): Promise<number[]> {
    const rows = await this.db.rows<{ record_id: number }>(
      `SELECT record_id FROM record_changes WHERE change_set_id = ? AND state = 'unknown' AND record_id IS NOT NULL`,
      [set],
      manager,
    );
    return rows.map((row) => row.record_id);
  }

  /** The changes in doubt of a domain, oldest first. */
  inDoubt(domainId: number, manager?: EntityManager): Promise<InDoubtRow[]> {
    return this.db.rows(
      `SELECT c.id, c.change_set_id, c.record_id, c.host, c.host_before, c.state_before, c.value_before, c.state_after,
              c.value_after, c.expected, c.settle_after, c.late, s.atomic
         FROM record_changes c JOIN change_sets s ON s.id = c.change_set_id
        WHERE s.state <> 'done' AND s.domain_id = ? AND c.state = 'unknown' ORDER BY c.id`,
      [domainId],
      manager,
    );
  }

  /** The first moment when a list proves one of a domain's changes in doubt not to be applied; null: there are none. */
  async firstSettleAfter(domainId: number): Promise<string | null> {
    const row = await this.db.row<{ at: string | null }>(
      `SELECT MIN(COALESCE(c.settle_after, '')) AS at FROM record_changes c JOIN change_sets s ON s.id = c.change_set_id
        WHERE s.state <> 'done' AND s.domain_id = ? AND c.state = 'unknown'`,
      [domainId],
    );
    return row?.at ?? null;
  }

  /** Those of these cached records that a change in doubt touches. */
  async inDoubtAmong(recordIds: readonly number[], manager: EntityManager): Promise<Set<number>> {
    const found = new Set<number>();
    for (const some of pieces(recordIds)) {
      const sql = `SELECT DISTINCT record_id FROM record_changes WHERE state = 'unknown' AND record_id IN (${marks(some.length)})`;
      for (const row of await this.db.rows<{ record_id: number }>(sql, some, manager)) found.add(row.record_id);
    }
    return found;
  }

  /** What a list shows of these may be of an attempt before the one that may still come. */
  async maybeTwice(ids: readonly number[]): Promise<void> {
    for (const some of pieces(ids))
      await this.db.run(`UPDATE record_changes SET late = 'again' WHERE id IN (${marks(some.length)})`, some);
  }

  /** When the oldest change in doubt was sent. */
  async oldestInDoubt(): Promise<string | null> {
    const sql = "SELECT MIN(tried_at) AS at FROM record_changes WHERE state = 'unknown'";
    return (await this.db.row<{ at: string | null }>(sql))?.at ?? null;
  }
}
