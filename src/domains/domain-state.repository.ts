import type { EntityManager } from 'typeorm';
import { now } from '../platform/common/clock.js';
import type { Db } from '../platform/database/db.js';

/**
 * What a domain's row holds about its cached records. Written in the transaction that changes those; each of these
 * locks the row until it ends, so that the writers of one domain follow each other.
 */
export const domainState = {
  /** A change of records is committed: a sync that was listing meanwhile sees it. */
  raiseRevision: (db: Db, manager: EntityManager, id: number) =>
    db.run('UPDATE domains SET revision = revision + 1 WHERE id = ?', [id], manager),

  /** How often its records were changed. In a transaction that has locked the row it stays so. */
  async revision(db: Db, manager: EntityManager, id: number): Promise<number> {
    return (
      (await db.row<{ revision: number }>('SELECT revision FROM domains WHERE id = ?', [id], manager))?.revision ?? 0
    );
  },

  /** So many records more, or fewer. */
  addRecords: (db: Db, manager: EntityManager, id: number, count: number) =>
    db.run('UPDATE domains SET records_count = records_count + ? WHERE id = ?', [count, id], manager),

  /** So many records in all. */
  setRecords: (db: Db, manager: EntityManager, id: number, count: number) =>
    db.run('UPDATE domains SET records_count = ? WHERE id = ?', [count, id], manager),

  /** When the cache last followed the provider. Locks the row: no synchronisation ends before this transaction does. */
  async lastSync(db: Db, manager: EntityManager, id: number): Promise<string | null> {
    await db.lock(manager, 'domains', { id });
    const sql = 'SELECT synced_at FROM domains WHERE id = ?';
    return (await db.row<{ synced_at: string | null }>(sql, [id], manager))?.synced_at ?? null;
  },

  /** The cache follows the provider as of now. */
  synced: (db: Db, manager: EntityManager, id: number) =>
    db.run('UPDATE domains SET synced_at = ? WHERE id = ?', [now(), id], manager),

  /** All that other domains of the zone had done by this revision is in the cache. */
  caughtUp: (db: Db, manager: EntityManager, id: number, revision: number) =>
    db.run('UPDATE domains SET stale_revision = NULL WHERE id = ? AND stale_revision <= ?', [id, revision], manager),
};
