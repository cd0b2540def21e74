import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Db, marks } from '../platform/database/db.js';
import type { ExpirySource } from './readable-domains.repository.js';

/** ids in one statement */
const CHUNK = 500;
/** characters of an error that are kept */
const MAX_ERROR = 255;
const WATCHED = 'id, name, account_id, remote_id, owner_id, expires_at, expires_source';

/** A domain, and when its registration is known to end. */
export interface Watched {
  id: number;
  name: string;
  account_id: number;
  remote_id: string;
  owner_id: number | null;
  expires_at: string | null;
  expires_source: ExpirySource | null;
}

/** A domain whose registration ends soon, or has ended. */
export interface Ending {
  id: number;
  name: string;
  expires_at: string;
  expires_source: ExpirySource | null;
  expiry_told_for: string | null;
  expiry_told_days: number | null;
}

/** What came of a question about a registration; `end` null: no date came, and the known one stays. */
interface EndFound {
  end: { expires_at: string; source: Exclude<ExpirySource, 'manual'> } | null;
  checked_at: string;
  error: string | null;
}

/** SQL of `domains`: when their registrations end. What was set by hand is never changed here. */
@Injectable()
export class DomainEndsRepository {
  constructor(private readonly db: Db) {}

  /** The next public ones after an id, but those that their provider does not list any more; none: these were all. */
  watched(after: number): Promise<Watched[]> {
    const sql = `SELECT ${WATCHED} FROM domains WHERE id > ? AND status = 'active' AND apart = '' ORDER BY id LIMIT ?`;
    return this.db.rows<Watched>(sql, [after, CHUNK]);
  }

  /** Of the same those at a name, in A-labels, and below it. */
  below(name: string): Promise<Watched[]> {
    const sql = `SELECT ${WATCHED} FROM domains WHERE status = 'active' AND apart = '' AND (name = ? OR name LIKE ?)
      ORDER BY id`;
    return this.db.rows<Watched>(sql, [name, `%.${name}`]);
  }

  /** What a registry said of these is not theirs: they are private zones. What was set by hand stays. */
  async forget(ids: readonly number[], manager: EntityManager): Promise<void> {
    for (let i = 0; i < ids.length; i += CHUNK) {
      const some = ids.slice(i, i + CHUNK);
      const sql = `UPDATE domains SET expires_at = NULL, expires_source = NULL, expires_checked_at = NULL, expiry_error = NULL
        WHERE id IN (${marks(some.length)}) AND (expires_source IS NULL OR expires_source <> 'manual')`;
      await this.db.run(sql, some, manager);
    }
  }

  /** Keeps what was found with these domains, which share a registration. */
  async follow(ids: readonly number[], { end, checked_at, error }: EndFound): Promise<void> {
    const words = error?.slice(0, MAX_ERROR).toWellFormed() ?? null;
    for (let i = 0; i < ids.length; i += CHUNK) {
      const some = ids.slice(i, i + CHUNK);
      const where = `WHERE id IN (${marks(some.length)}) AND (expires_source IS NULL OR expires_source <> 'manual')`;
      const found = end ? [end.expires_at, end.source] : [];
      const date = end ? 'expires_at = ?, expires_source = ?, ' : '';
      await this.db.run(`UPDATE domains SET ${date}expires_checked_at = ?, expiry_error = ? ${where}`, [
        ...found,
        checked_at,
        words,
        ...some,
      ]);
    }
  }

  /** Those whose registration ends before a moment. */
  ending(before: string): Promise<Ending[]> {
    return this.db.rows<Ending>(
      `SELECT id, name, expires_at, expires_source, expiry_told_for, expiry_told_days FROM domains
        WHERE status = 'active' AND expires_at IS NOT NULL AND expires_at < ? ORDER BY expires_at, id`,
      [before],
    );
  }

  /**
   * Notes in the transaction of a reminder that these were reminded of their common end, so many days before it.
   * @returns false, and nothing is noted, when another process did, or the end has changed meanwhile
   */
  async told(manager: EntityManager, group: readonly Ending[], days: number): Promise<boolean> {
    const [first] = group;
    if (!first) return false;
    const seen = await this.db.run(
      `UPDATE domains SET expiry_told_for = ?, expiry_told_days = ?
        WHERE id = ? AND expires_at = ? AND COALESCE(expiry_told_for, '') = ? AND COALESCE(expiry_told_days, 0) = ?`,
      [
        first.expires_at,
        days,
        first.id,
        first.expires_at,
        first.expiry_told_for ?? '',
        Number(first.expiry_told_days ?? 0),
      ],
      manager,
    );
    if (!seen) return false;
    for (let i = 1; i < group.length; i += CHUNK) {
      const ids = group.slice(i, i + CHUNK).map(({ id }) => id);
      await this.db.run(
        `UPDATE domains SET expiry_told_for = ?, expiry_told_days = ? WHERE id IN (${marks(ids.length)})`,
        [first.expires_at, days, ...ids],
        manager,
      );
    }
    return true;
  }
}
