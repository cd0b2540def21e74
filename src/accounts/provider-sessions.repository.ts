import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Db, isDuplicate } from '../platform/database/db.js';
import { SEALED_HEAD } from '../platform/database/sealed-values.js';
import type { ProviderSession } from './provider-session.entity.js';

type Kept = Pick<ProviderSession, 'id' | 'session' | 'expires_at'>;

/** The statements of the table `provider_sessions`. */
@Injectable()
export class ProviderSessionsRepository {
  constructor(private readonly db: Db) {}

  /** A session that ends after `at`. */
  find(id: string, at: string): Promise<{ session: string; expires_at: string } | undefined> {
    const sql =
      'SELECT session, expires_at FROM provider_sessions WHERE id = ? AND session IS NOT NULL AND expires_at > ?';
    return this.db.row(sql, [id, at]);
  }

  /** Keeps a session in place of another one. */
  async put({ id, session, expires_at }: Kept): Promise<void> {
    const update = () =>
      this.db.run('UPDATE provider_sessions SET session = ?, expires_at = ? WHERE id = ?', [session, expires_at, id]);
    if (await update()) return;
    if (!(await this.insert(id, session, 0, expires_at))) await update();
  }

  /** Forgets a session, where it is still this one. @returns how many rows changed */
  drop(id: string, session: string): Promise<number> {
    return this.db.run('UPDATE provider_sessions SET session = NULL WHERE id = ? AND session = ?', [id, session]);
  }

  /** Takes a time step for one caller. @returns false when it, or a later one, was taken before */
  async claim(id: string, step: number, until: string): Promise<boolean> {
    const sql = 'UPDATE provider_sessions SET last_step = ?, expires_at = ? WHERE id = ? AND last_step < ?';
    const update = async () => (await this.db.run(sql, [step, until, id, step])) > 0;
    // of two that insert at once one finds the row of the other
    return (await update()) || (await this.insert(id, null, step, until)) || update();
  }

  /** @returns false when there is such a row */
  private async insert(id: string, session: string | null, step: number, expires: string): Promise<boolean> {
    const sql = 'INSERT INTO provider_sessions (id, session, last_step, expires_at) VALUES (?, ?, ?, ?)';
    try {
      return (await this.db.run(sql, [id, session, step, expires])) > 0;
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  }

  async deleteExpired(at: string): Promise<void> {
    await this.db.run('DELETE FROM provider_sessions WHERE expires_at < ?', [at]);
  }

  /** The sealed sessions that end after `at`, by the first characters of each. */
  heads(at: string): Promise<{ id: string; head: string }[]> {
    return this.db.rows(
      `SELECT id, SUBSTR(session, 1, ${SEALED_HEAD}) AS head FROM provider_sessions
        WHERE session IS NOT NULL AND expires_at > ?`,
      [at],
    );
  }

  /** Sessions behind an id whose head differs from this one, in the order of the ids. */
  sealedOtherwise(after: string, head: string, limit: number): Promise<{ id: string; sealed: string }[]> {
    return this.db.rows(
      `SELECT id, session AS sealed FROM provider_sessions
        WHERE id > ? AND session IS NOT NULL AND SUBSTR(session, 1, ${SEALED_HEAD}) <> ? ORDER BY id LIMIT ${limit}`,
      [after, head],
    );
  }

  /** Replaces a sealed session, where it is still the old one. @returns how many rows changed */
  replace(id: string, old: string, fresh: string): Promise<number> {
    return this.db.run('UPDATE provider_sessions SET session = ? WHERE id = ? AND session = ?', [fresh, id, old]);
  }

  async delete(id: string, manager: EntityManager): Promise<void> {
    await this.db.run('DELETE FROM provider_sessions WHERE id = ?', [id], manager);
  }
}
