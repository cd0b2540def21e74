import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Db, marks } from '../platform/database/db.js';

/** A write that the provider may still carry out: its domain, and until when; null: it is being sent. */
interface WriteInFlight {
  name: string;
  ends: string | null;
}

/** change sets, of all domains, among which are those of the last minutes */
const NEWEST = 20_000;
/** names in one statement */
const CHUNK = 200;

/** a change that was sent and has no answer, or is being sent */
const SENT = `((c.state = 'unknown' AND c.late IS NOT NULL AND c.settle_after > ?)
  OR (c.state = 'pending' AND c.tried_at IS NOT NULL))`;
/** the zone is that of another domain, too */
const SHARED = `EXISTS (SELECT 1 FROM domains o JOIN dns_accounts p ON p.id = o.account_id
    WHERE o.id <> d.id AND o.remote_id = d.remote_id AND p.server_key = a.server_key)`;

/**
 * Writes in flight that keep a domain, or an account with its domains, from being deleted. Domains and change sets are
 * above accounts: the statements stand here because deleting an account deletes both, and has to look at them in its
 * own transaction.
 */
@Injectable()
export class DeletionBlockersRepository {
  constructor(private readonly db: Db) {}

  /**
   * The last of the writes in flight of one domain, or of all domains of an account.
   * @param shared only of domains whose zone another domain is, too
   */
  inFlight(
    by: 'id' | 'account_id',
    id: number,
    shared: boolean,
    at: string,
    manager: EntityManager,
  ): Promise<WriteInFlight | undefined> {
    return this.db.row<WriteInFlight>(
      `SELECT d.name, c.settle_after AS ends FROM domains d JOIN dns_accounts a ON a.id = d.account_id
      JOIN change_sets s ON s.domain_id = d.id AND s.state <> 'done' JOIN record_changes c ON c.change_set_id = s.id
      WHERE d.${by} = ? AND ${SENT}${shared ? ` AND ${SHARED}` : ''} ORDER BY c.settle_after DESC LIMIT 1`,
      [id, at],
      manager,
    );
  }

  /** Of these names, those of deleted domains with a write in flight, and until when. */
  async lateNames(names: readonly string[], at: string, manager?: EntityManager): Promise<Map<string, string>> {
    const found = new Map<string, string>();
    for (let i = 0; i < names.length; i += CHUNK) {
      const some = names.slice(i, i + CHUNK);
      const rows = await this.db.rows<{ domain: string; ends: string }>(
        `SELECT s.domain, MAX(c.settle_after) AS ends FROM change_sets s JOIN record_changes c ON c.change_set_id = s.id
        WHERE s.id > (SELECT COALESCE(MAX(id), 0) - ${NEWEST} FROM change_sets) AND s.domain IN (${marks(some.length)})
          AND c.state = 'unknown' AND c.late IS NOT NULL AND c.settle_after > ?
          AND NOT EXISTS (SELECT 1 FROM domains d WHERE d.id = s.domain_id) GROUP BY s.domain`,
        [...some, at],
        manager,
      );
      for (const { domain, ends } of rows) found.set(domain, ends);
    }
    return found;
  }
}
