import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Db } from '../../platform/database/db.js';
import { SEALED_HEAD } from '../../platform/database/sealed-values.js';
import type { SecondFactor } from './second-factor.entity.js';

/** Columns that hold sealed seeds. */
type SeedColumn = 'secret' | 'pending';

/** The statements of the table `second_factors`. */
@Injectable()
export class SecondFactorsRepository {
  constructor(private readonly db: Db) {}

  seeds(userId: number): Promise<Pick<SecondFactor, SeedColumn> | undefined> {
    return this.db.row('SELECT secret, pending FROM second_factors WHERE user_id = ?', [userId]);
  }

  async hasPasskey(userId: number): Promise<boolean> {
    return (await this.db.row('SELECT id FROM passkeys WHERE user_id = ? LIMIT 1', [userId])) !== undefined;
  }

  async insertPending(userId: number, sealed: string, at: string, manager: EntityManager): Promise<void> {
    const sql = 'INSERT INTO second_factors (user_id, pending, created_at) VALUES (?, ?, ?)';
    await this.db.run(sql, [userId, sealed, at], manager);
  }

  /** Deletes a seed that waits for its first code. */
  async deletePending(userId: number, manager: EntityManager): Promise<void> {
    await this.db.run('DELETE FROM second_factors WHERE user_id = ? AND secret IS NULL', [userId], manager);
  }

  /** Makes this pending seed the one in use. @returns false when another one is pending now */
  async confirm(userId: number, pending: string, step: number, manager: EntityManager): Promise<boolean> {
    const changed = await this.db.run(
      'UPDATE second_factors SET secret = pending, pending = NULL, last_step = ? WHERE user_id = ? AND pending = ?',
      [step, userId, pending],
      manager,
    );
    return changed > 0;
  }

  /** Stores the time step of a code. @returns false unless it is newer than the newest, of this very seed */
  async useStep(userId: number, secret: string, step: number): Promise<boolean> {
    const changed = await this.db.run(
      'UPDATE second_factors SET last_step = ? WHERE user_id = ? AND secret = ? AND (last_step IS NULL OR last_step < ?)',
      [step, userId, secret, step],
    );
    return changed === 1;
  }

  /** @returns whether there was one */
  async delete(userId: number, manager: EntityManager): Promise<boolean> {
    return (await this.db.run('DELETE FROM second_factors WHERE user_id = ?', [userId], manager)) > 0;
  }

  /** The heads of the sealed seeds of a column. */
  async heads(column: SeedColumn): Promise<string[]> {
    const sql = `SELECT SUBSTR(${column}, 1, ${SEALED_HEAD}) AS head FROM second_factors WHERE ${column} IS NOT NULL`;
    return (await this.db.rows<{ head: string }>(sql)).map(({ head }) => head);
  }

  /** The same with the ids of the users. */
  identifiedHeads(column: SeedColumn): Promise<{ id: number; head: string }[]> {
    return this.db.rows(
      `SELECT user_id AS id, SUBSTR(${column}, 1, ${SEALED_HEAD}) AS head FROM second_factors
        WHERE ${column} IS NOT NULL ORDER BY user_id`,
    );
  }

  /** Seeds of users behind an id whose head differs from this one, in the order of the ids. */
  sealedOtherwise(
    column: SeedColumn,
    after: number,
    head: string,
    limit: number,
  ): Promise<{ id: number; sealed: string }[]> {
    return this.db.rows(
      `SELECT user_id AS id, ${column} AS sealed FROM second_factors
        WHERE user_id > ? AND SUBSTR(${column}, 1, ${SEALED_HEAD}) <> ? ORDER BY user_id LIMIT ${limit}`,
      [after, head],
    );
  }

  /** Replaces a sealed seed, where it is still the old one. @returns how many rows changed */
  replace(column: SeedColumn, userId: number, old: string, fresh: string): Promise<number> {
    const sql = `UPDATE second_factors SET ${column} = ? WHERE user_id = ? AND ${column} = ?`;
    return this.db.run(sql, [fresh, userId, old]);
  }

  /** Removes a seed that has this head. */
  drop(column: SeedColumn, userId: number, head: string, manager: EntityManager): Promise<number> {
    return this.db.run(
      `UPDATE second_factors SET ${column} = NULL
        WHERE user_id = ? AND SUBSTR(${column}, 1, ${SEALED_HEAD}) = ?`,
      [userId, head],
      manager,
    );
  }
}
