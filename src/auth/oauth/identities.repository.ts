import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Db } from '../../platform/database/db.js';
import type { Person } from './claims.js';
import type { Identity } from './identity.entity.js';

/** What identifies a person at a provider. */
export type Subject = Pick<Person, 'issuer' | 'subject'>;

/** The statements of the table `identities`. */
@Injectable()
export class IdentitiesRepository {
  constructor(private readonly db: Db) {}

  /** The identities of a user, by provider. */
  of(userId: number): Promise<Pick<Identity, 'provider' | 'name' | 'created_at' | 'last_used_at'>[]> {
    return this.db.rows(
      'SELECT provider, name, created_at, last_used_at FROM identities WHERE user_id = ? ORDER BY provider',
      [userId],
    );
  }

  /** What others are shown of the identities of a user. */
  heldBy(userId: number, manager: EntityManager): Promise<Pick<Identity, 'provider' | 'name'>[]> {
    const sql = 'SELECT provider, name FROM identities WHERE user_id = ? ORDER BY provider';
    return this.db.rows(sql, [userId], manager);
  }

  /** The user whom a person is bound to. */
  async owner({ issuer, subject }: Subject, manager?: EntityManager): Promise<number | null> {
    const sql = 'SELECT user_id FROM identities WHERE issuer = ? AND subject = ?';
    return (await this.db.row<{ user_id: number }>(sql, [issuer, subject], manager))?.user_id ?? null;
  }

  /** The identity of a user at a provider. */
  at(
    provider: string,
    userId: number,
    manager: EntityManager,
  ): Promise<Pick<Identity, 'issuer' | 'subject' | 'name'> | undefined> {
    const sql = 'SELECT issuer, subject, name FROM identities WHERE user_id = ? AND provider = ?';
    return this.db.row(sql, [userId, provider], manager);
  }

  async insert(
    userId: number,
    provider: string,
    { issuer, subject, name }: Person,
    at: string,
    manager: EntityManager,
  ): Promise<void> {
    await this.db.run(
      `INSERT INTO identities (user_id, provider, issuer, subject, name, created_at, last_used_at)
       VALUES (?, ?, ?, ?, ?, ?, NULL)`,
      [userId, provider, issuer, subject, name, at],
      manager,
    );
  }

  async touch({ issuer, subject }: Subject, at: string): Promise<void> {
    const sql = 'UPDATE identities SET last_used_at = ? WHERE issuer = ? AND subject = ?';
    await this.db.run(sql, [at, issuer, subject]);
  }

  /** @returns whether the user had an identity at the provider */
  async delete(provider: string, userId: number, manager: EntityManager): Promise<boolean> {
    const sql = 'DELETE FROM identities WHERE user_id = ? AND provider = ?';
    return (await this.db.run(sql, [userId, provider], manager)) > 0;
  }

  /** @returns how many */
  deleteAll(userId: number, manager: EntityManager): Promise<number> {
    return this.db.run('DELETE FROM identities WHERE user_id = ?', [userId], manager);
  }
}
