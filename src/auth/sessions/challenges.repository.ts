import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Db } from '../../platform/database/db.js';
import { SEALED_HEAD } from '../../platform/database/sealed-values.js';
import type { Challenge } from './challenge.entity.js';

type Content = Pick<Challenge, 'content' | 'user_id'>;

/** The statements of the table `challenges`. */
@Injectable()
export class ChallengesRepository {
  constructor(private readonly db: Db) {}

  /** A challenge that expires after `at`. */
  find(id: string, at: string, manager?: EntityManager): Promise<Content | undefined> {
    const sql = 'SELECT content, user_id FROM challenges WHERE id = ? AND expires_at > ?';
    return this.db.row(sql, [id, at], manager);
  }

  async insert(
    { id, kind, user_id, content, expires_at }: Content & Pick<Challenge, 'id' | 'kind' | 'expires_at'>,
    manager?: EntityManager,
  ): Promise<void> {
    await this.db.run(
      'INSERT INTO challenges (id, kind, user_id, content, tries, expires_at) VALUES (?, ?, ?, ?, 0, ?)',
      [id, kind, user_id, content, expires_at],
      manager,
    );
  }

  /** Counts a try. @returns false when there were `max` before, or there is no such challenge */
  async countTry(id: string, max: number): Promise<boolean> {
    return (await this.db.run('UPDATE challenges SET tries = tries + 1 WHERE id = ? AND tries < ?', [id, max])) > 0;
  }

  /** @returns whether there was such a challenge: of two deletions at once one gets true */
  async delete(id: string, manager?: EntityManager): Promise<boolean> {
    return (await this.db.run('DELETE FROM challenges WHERE id = ?', [id], manager)) > 0;
  }

  async deleteOf(userId: number, kind: string, manager: EntityManager): Promise<void> {
    await this.db.run('DELETE FROM challenges WHERE kind = ? AND user_id = ?', [kind, userId], manager);
  }

  async deleteAllOf(userId: number, manager: EntityManager): Promise<void> {
    await this.db.run('DELETE FROM challenges WHERE user_id = ?', [userId], manager);
  }

  async deleteExpired(at: string): Promise<void> {
    await this.db.run('DELETE FROM challenges WHERE expires_at < ?', [at]);
  }

  /** The heads of the sealed contents that expire after `at`. */
  async heads(at: string): Promise<string[]> {
    const sql = `SELECT SUBSTR(content, 1, ${SEALED_HEAD}) AS head FROM challenges WHERE expires_at > ?`;
    return (await this.db.rows<{ head: string }>(sql, [at])).map(({ head }) => head);
  }

  /** The same with the challenges they belong to. */
  identifiedHeads(at: string): Promise<{ id: string; kind: string; head: string }[]> {
    const sql = `SELECT id, kind, SUBSTR(content, 1, ${SEALED_HEAD}) AS head FROM challenges WHERE expires_at > ?`;
    return this.db.rows(sql, [at]);
  }

  /** Contents behind an id whose head differs from this one, in the order of the ids. */
  sealedOtherwise(after: string, head: string, limit: number): Promise<{ id: string; sealed: string }[]> {
    return this.db.rows(
      `SELECT id, content AS sealed FROM challenges
        WHERE id > ? AND SUBSTR(content, 1, ${SEALED_HEAD}) <> ? ORDER BY id LIMIT ${limit}`,
      [after, head],
    );
  }

  /** Replaces a sealed content, where it is still the old one. @returns how many rows changed */
  replace(id: string, old: string, fresh: string): Promise<number> {
    return this.db.run('UPDATE challenges SET content = ? WHERE id = ? AND content = ?', [fresh, id, old]);
  }
}
