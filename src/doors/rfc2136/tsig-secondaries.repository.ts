import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { now } from '../../platform/common/clock.js';
import { Db } from '../../platform/database/db.js';
import type { TsigSecondary } from './tsig-secondary.entity.js';

/** What is stored of a secondary. */
export type StoredSecondary = Omit<TsigSecondary, 'token'>;

const COLUMNS = 'id, token_id, target, told_at, zone, error';

/** The table `tsig_secondaries`. */
@Injectable()
export class TsigSecondariesRepository {
  constructor(private readonly db: Db) {}

  ofToken(tokenId: number, manager?: EntityManager): Promise<StoredSecondary[]> {
    return this.db.rows(`SELECT ${COLUMNS} FROM tsig_secondaries WHERE token_id = ? ORDER BY id`, [tokenId], manager);
  }

  /** All that there are, of keys that there are. */
  all(): Promise<Pick<StoredSecondary, 'id' | 'token_id'>[]> {
    return this.db.rows(
      `SELECT s.id AS id, s.token_id AS token_id FROM tsig_secondaries s
         JOIN tsig_keys k ON k.token_id = s.token_id ORDER BY s.token_id, s.id`,
    );
  }

  one(id: number): Promise<StoredSecondary | undefined> {
    return this.db.row(`SELECT ${COLUMNS} FROM tsig_secondaries WHERE id = ?`, [id]);
  }

  insert(tokenId: number, target: string, manager: EntityManager): Promise<number> {
    return this.db.insert('tsig_secondaries', { token_id: tokenId, target }, manager);
  }

  async delete(id: number, manager: EntityManager): Promise<void> {
    await this.db.run('DELETE FROM tsig_secondaries WHERE id = ?', [id], manager);
  }

  /** Notes what became of a message. @param error null: it was taken */
  async note(id: number, zone: string, error: string | null): Promise<void> {
    const sql = 'UPDATE tsig_secondaries SET told_at = ?, zone = ?, error = ? WHERE id = ?';
    await this.db.run(sql, [now(), zone, error?.slice(0, 255) ?? null, id]);
  }
}
