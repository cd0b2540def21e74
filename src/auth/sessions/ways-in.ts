import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { errors } from '../../common/errors.js';
import { Db } from '../../database/db.js';

/** How a user can sign in: with a password, passkeys, identities at providers. */
@Injectable()
export class WaysIn {
  constructor(private readonly db: Db) {}

  /**
   * Call it in the transaction that took a way in away.
   * @throws AppError 409001 when none is left
   */
  async assertLeft(manager: EntityManager, userId: number): Promise<void> {
    // locks the user: two that take the last two ways at once follow each other
    await this.db.run('UPDATE users SET status = status WHERE id = ?', [userId], manager);
    const row = await this.db.row(
      `SELECT id FROM users u WHERE id = ? AND (password_hash <> '' OR EXISTS (SELECT 1 FROM passkeys p WHERE p.user_id = u.id)
          OR EXISTS (SELECT 1 FROM identities i WHERE i.user_id = u.id))`,
      [userId],
      manager,
    );
    if (!row)
      throw errors.conflict('This is the last way to sign in to this account; set a password or add another first');
  }
}
