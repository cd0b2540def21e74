import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Db, isDuplicate } from '../../platform/database/db.js';
import { SEALED_HEAD } from '../../platform/database/sealed-values.js';
import type { TsigKeyRow } from './tsig-key.entity.js';

/** What is stored of a key. */
export type StoredKey = Omit<TsigKeyRow, 'token'>;

const COLUMNS = 'id, token_id, name, algorithm, secret, created_at';

/** The tables `tsig_keys` and `tsig_seen`. */
@Injectable()
export class TsigKeysRepository {
  constructor(private readonly db: Db) {}

  /** @param name lower case, without final dot */
  byName(name: string): Promise<StoredKey | undefined> {
    return this.db.row(`SELECT ${COLUMNS} FROM tsig_keys WHERE name = ?`, [name]);
  }

  ofToken(tokenId: number, manager?: EntityManager): Promise<StoredKey | undefined> {
    return this.db.row(`SELECT ${COLUMNS} FROM tsig_keys WHERE token_id = ?`, [tokenId], manager);
  }

  async insert(row: Omit<StoredKey, 'id'>, manager: EntityManager): Promise<number> {
    return this.db.insert('tsig_keys', { ...row }, manager);
  }

  /** @returns how many there were */
  delete(id: number, manager: EntityManager): Promise<number> {
    return this.db.run('DELETE FROM tsig_keys WHERE id = ?', [id], manager);
  }

  /** Notes that an update has come. @returns false: it was here before */
  async see(id: string, expiresAt: string): Promise<boolean> {
    try {
      await this.db.run('INSERT INTO tsig_seen (id, expires_at) VALUES (?, ?)', [id, expiresAt]);
      return true;
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  }

  /** Forgets updates whose signatures do not count any more. */
  async forget(at: string): Promise<void> {
    await this.db.run('DELETE FROM tsig_seen WHERE expires_at < ?', [at]);
  }

  /** The heads of all sealed secrets, with what they are for. */
  heads(): Promise<{ id: number; name: string; head: string }[]> {
    return this.db.rows(`SELECT id, name, SUBSTR(secret, 1, ${SEALED_HEAD}) AS head FROM tsig_keys`);
  }

  /** Secrets behind an id whose head differs from this one, in the order of the ids. */
  sealedOtherwise(after: number, head: string, limit: number): Promise<{ id: number; sealed: string }[]> {
    return this.db.rows(
      `SELECT id, secret AS sealed FROM tsig_keys
        WHERE id > ? AND SUBSTR(secret, 1, ${SEALED_HEAD}) <> ? ORDER BY id LIMIT ${limit}`,
      [after, head],
    );
  }

  /** Replaces a sealed secret, where it is still the old one. @returns how many rows changed */
  replace(id: number, old: string, fresh: string): Promise<number> {
    return this.db.run('UPDATE tsig_keys SET secret = ? WHERE id = ? AND secret = ?', [fresh, id, old]);
  }
}
