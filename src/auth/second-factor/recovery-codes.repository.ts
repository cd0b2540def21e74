import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Db } from '../../platform/database/db.js';

/** The statements of the table `recovery_codes`. */
@Injectable()
export class RecoveryCodesRepository {
  constructor(private readonly db: Db) {}

  async insert(userId: number, hash: string, manager: EntityManager): Promise<void> {
    await this.db.run('INSERT INTO recovery_codes (user_id, code_hash) VALUES (?, ?)', [userId, hash], manager);
  }

  /** @returns whether the user had such a code: of two deletions at once one gets true */
  async delete(userId: number, hash: string): Promise<boolean> {
    return (await this.db.run('DELETE FROM recovery_codes WHERE user_id = ? AND code_hash = ?', [userId, hash])) === 1;
  }

  async deleteAll(userId: number, manager: EntityManager): Promise<void> {
    await this.db.run('DELETE FROM recovery_codes WHERE user_id = ?', [userId], manager);
  }
}
