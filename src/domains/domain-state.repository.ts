import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { now } from '../platform/common/clock.js';
import { Db } from '../platform/database/db.js';

/** A domain as its provider was read last. */
interface DomainAtProvider {
  synced_at: string | null;
  /** the account's credentials as they are stored */
  sealed: string | null;
}

/**
 * What a domain's row holds about its cached records. Written in the transaction that changes those; each of these
 * locks the row until it ends, so that the writers of one domain follow each other.
 */
@Injectable()
export class DomainStateRepository {
  constructor(private readonly db: Db) {}

  /** A change of records is committed: a sync that was listing meanwhile sees it. @returns the domain's revision */
  async raiseRevision(id: number, manager: EntityManager): Promise<number> {
    return (await this.db.raise(manager, 'domains', 'revision', id)) ?? 0;
  }

  /** Locks the row of a domain whose records stay as they are. */
  async hold(id: number, manager: EntityManager): Promise<void> {
    await this.db.lock(manager, 'domains', { id });
  }

  /** How often its records were changed. In a transaction that has locked the row it stays so. */
  async revision(id: number, manager: EntityManager): Promise<number> {
    const sql = 'SELECT revision FROM domains WHERE id = ?';
    return (await this.db.row<{ revision: number }>(sql, [id], manager))?.revision ?? 0;
  }

  /** What it demands of changes, see `changeRulesOf`. In a transaction that has locked the row it stays so. */
  async changeRules(id: number, manager: EntityManager): Promise<string | null> {
    const sql = 'SELECT change_rules FROM domains WHERE id = ?';
    return (await this.db.row<{ change_rules: string | null }>(sql, [id], manager))?.change_rules ?? null;
  }

  /** So many records more, or fewer. */
  async addRecords(id: number, count: number, manager: EntityManager): Promise<void> {
    await this.db.run('UPDATE domains SET records_count = records_count + ? WHERE id = ?', [count, id], manager);
  }

  /** So many records in all. */
  async setRecords(id: number, count: number, manager: EntityManager): Promise<void> {
    await this.db.run('UPDATE domains SET records_count = ? WHERE id = ?', [count, id], manager);
  }

  /**
   * When the cache last followed the provider, and how the provider is reached. Locks the row: no synchronisation ends,
   * and the account is not taken to another server, before this transaction ends.
   * @returns undefined where there is no such domain any more
   */
  async lastSync(id: number, manager: EntityManager): Promise<DomainAtProvider | undefined> {
    await this.db.lock(manager, 'domains', { id });
    const sql = `SELECT d.synced_at, a.credentials AS sealed FROM domains d JOIN dns_accounts a ON a.id = d.account_id
      WHERE d.id = ?`;
    return this.db.row<DomainAtProvider>(sql, [id], manager);
  }

  /** The cache follows the provider as of now. */
  async synced(id: number, manager: EntityManager): Promise<void> {
    await this.db.run('UPDATE domains SET synced_at = ? WHERE id = ?', [now(), id], manager);
  }

  /** All that other domains of the zone had done by this revision is in the cache. */
  async caughtUp(id: number, revision: number, manager: EntityManager): Promise<void> {
    const sql = 'UPDATE domains SET stale_revision = NULL WHERE id = ? AND stale_revision <= ?';
    await this.db.run(sql, [id, revision], manager);
  }
}
