import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Db, marks } from '../platform/database/db.js';
import { SEALED_HEAD } from '../platform/database/sealed-values.js';
import type { KeptAnswer } from './kept-answer.entity.js';

export type KeptRow = Pick<KeptAnswer, 'owner' | 'lease_until' | 'content' | 'request_id' | 'expires_at'>;

const COLUMNS = 'owner, lease_until, content, request_id, expires_at';

/** The table `kept_answers`. */
@Injectable()
export class KeptAnswersRepository {
  constructor(private readonly db: Db) {}

  find(id: string): Promise<KeptRow | undefined> {
    return this.db.row(`SELECT ${COLUMNS} FROM kept_answers WHERE id = ?`, [id]);
  }

  /** @throws the driver's error of a duplicate (`isDuplicate`) where there is one */
  async insert(row: KeptAnswer): Promise<void> {
    const { id, caller, owner, lease_until, content, size, request_id, expires_at } = row;
    await this.db.run(
      `INSERT INTO kept_answers (id, caller, owner, lease_until, content, size, request_id, expires_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      [id, caller, owner, lease_until, content, size, request_id, expires_at],
    );
  }

  /** How many a caller has, their bytes, and when the first of them ends. */
  async usage(caller: string): Promise<{ keys: number; bytes: number; first: string | null }> {
    const row = await this.db.row<{ n: number; bytes: number | null; first: string | null }>(
      'SELECT COUNT(*) AS n, SUM(size) AS bytes, MIN(expires_at) AS first FROM kept_answers WHERE caller = ?',
      [caller],
    );
    return { keys: Number(row?.n), bytes: Number(row?.bytes ?? 0), first: row?.first ?? null };
  }

  /** Goes on with one that is under way. */
  async renew(id: string, owner: string, until: string): Promise<void> {
    await this.db.run('UPDATE kept_answers SET lease_until = ? WHERE id = ? AND owner = ?', [until, id, owner]);
  }

  /** Ends one that is under way with its answer. */
  async end(id: string, owner: string, content: string, expiresAt: string): Promise<void> {
    await this.db.run(
      'UPDATE kept_answers SET owner = NULL, content = ?, size = ?, expires_at = ? WHERE id = ? AND owner = ?',
      [content, content.length, expiresAt, id, owner],
    );
  }

  /** Forgets one that is under way. */
  async release(id: string, owner: string): Promise<void> {
    await this.db.run('DELETE FROM kept_answers WHERE id = ? AND owner = ?', [id, owner]);
  }

  /** Deletes one that has expired. */
  async deleteOver(id: string, at: string): Promise<void> {
    await this.db.run('DELETE FROM kept_answers WHERE id = ? AND expires_at <= ?', [id, at]);
  }

  /** Deletes some that have expired. @returns how many */
  async deleteExpired(at: string, most: number): Promise<number> {
    const sql = `SELECT id FROM kept_answers WHERE expires_at <= ? ORDER BY expires_at LIMIT ${most}`;
    const ids = (await this.db.rows<{ id: string }>(sql, [at])).map(({ id }) => id);
    if (!ids.length) return 0;
    await this.db.run(`DELETE FROM kept_answers WHERE expires_at <= ? AND id IN (${marks(ids.length)})`, [at, ...ids]);
    return ids.length;
  }

  async delete(id: string, manager: EntityManager): Promise<void> {
    await this.db.run('DELETE FROM kept_answers WHERE id = ?', [id], manager);
  }

  /** The heads of the sealed contents that expire after `at`, with whose they are. */
  heads(at: string): Promise<{ id: string; caller: string; head: string }[]> {
    const sql = `SELECT id, caller, SUBSTR(content, 1, ${SEALED_HEAD}) AS head FROM kept_answers WHERE expires_at > ?`;
    return this.db.rows(sql, [at]);
  }

  /** Contents behind an id whose head differs from this one, in the order of the ids. */
  sealedOtherwise(after: string, head: string, limit: number): Promise<{ id: string; sealed: string }[]> {
    return this.db.rows(
      `SELECT id, content AS sealed FROM kept_answers
        WHERE id > ? AND SUBSTR(content, 1, ${SEALED_HEAD}) <> ? ORDER BY id LIMIT ${limit}`,
      [after, head],
    );
  }

  /** Replaces a sealed content, where it is still the old one. @returns how many rows changed */
  replace(id: string, old: string, fresh: string): Promise<number> {
    return this.db.run('UPDATE kept_answers SET content = ? WHERE id = ? AND content = ?', [fresh, id, old]);
  }
}
