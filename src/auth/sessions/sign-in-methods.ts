import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { errors } from '../../common/errors.js';
import { Db } from '../../database/db.js';
import { UsersService } from '../../users/users.service.js';

/**
 * That the user `u` can sign in. Asked of tables that stand above: who takes a way in away asks what others are left.
 */
const HAS_WAY_IN = `(u.password_hash <> '' OR EXISTS (SELECT 1 FROM passkeys p WHERE p.user_id = u.id)
  OR EXISTS (SELECT 1 FROM identities i WHERE i.user_id = u.id))`;

/** How users can sign in: with a password, passkeys, identities at providers. */
@Injectable()
export class SignInMethods {
  constructor(
    private readonly db: Db,
    private readonly users: UsersService,
  ) {}

  /**
   * Call it in the transaction that took a way in away.
   * @throws AppError 409001 when none is left
   */
  async assertLeft(manager: EntityManager, userId: number): Promise<void> {
    // two that take the last two ways at once follow each other
    await this.users.lock(manager, userId);
    const row = await this.db.row(`SELECT id FROM users u WHERE id = ? AND ${HAS_WAY_IN}`, [userId], manager);
    if (!row)
      throw errors.conflict('This is the last way to sign in to this account; set a password or add another first');
  }

  /** Whether anybody active of this role can sign in. */
  async hasSome(manager: EntityManager, role: number): Promise<boolean> {
    const sql = `SELECT id FROM users u WHERE role = ? AND status = 1 AND ${HAS_WAY_IN} LIMIT 1`;
    return (await this.db.row(sql, [role], manager)) !== undefined;
  }
}
