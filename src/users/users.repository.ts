import { Injectable } from '@nestjs/common';
import type { EntityManager, FindOptionsWhere } from 'typeorm';
import { Role } from '../access/access.js';
import type { Reader } from '../notifications/mailer.service.js';
import type { PageQuery } from '../platform/common/paging.dto.js';
import { Db, marks } from '../platform/database/db.js';
import { type ListSql, listRows } from '../platform/database/lists.js';
import { User } from './user.entity.js';

/** What `userView` needs. */
const COLUMNS = 'id, username, nickname, email, role, status, totp_enabled, language, created_at, last_login_at';

const LIST: Omit<ListSql, 'where' | 'values'> = {
  columns: COLUMNS,
  from: 'users',
  sorts: {
    id: 'id',
    username: 'username_key',
    created_at: 'created_at',
    // null sorts first on some databases and last on others
    last_login_at: `COALESCE(last_login_at, '')`,
  },
  fallback: 'id',
  id: 'id',
  search: ['username_key', 'LOWER(nickname)', 'email_key'],
};

/** Whether the user `u` has an authenticator app or a passkey, as 1 or 0. */
export const HAS_FACTOR =
  'CASE WHEN u.totp_enabled OR EXISTS (SELECT 1 FROM passkeys p WHERE p.user_id = u.id) THEN 1 ELSE 0 END';

/** Whether the user `u` has any sign-in method. */
const CAN_SIGN_IN = `(u.password_hash <> '' OR EXISTS (SELECT 1 FROM passkeys p WHERE p.user_id = u.id)
  OR EXISTS (SELECT 1 FROM identities i WHERE i.user_id = u.id))`;

/** The statements of the table `users`. */
@Injectable()
export class UsersRepository {
  constructor(private readonly db: Db) {}

  find(by: FindOptionsWhere<User>, manager: EntityManager = this.db.source.manager): Promise<User | null> {
    return manager.findOneBy(User, by);
  }

  /** The user behind a request. @throws EntityNotFoundError when the user was deleted */
  get(id: number): Promise<User> {
    return this.db.source.manager.findOneByOrFail(User, { id });
  }

  /** What is shown of a user. A prepared statement: every console asks for it all the time. */
  shown(id: number): Promise<User | undefined> {
    return this.db.row<User>(`SELECT ${COLUMNS}, email_verified, theme, timezone FROM users WHERE id = ?`, [id]);
  }

  /** A page of the users that a query asks for. @throws AppError 400001 for an unknown `sort` */
  list(query: PageQuery & { role?: number; status?: number }): Promise<{ total: number; list: User[] }> {
    const asked = (['role', 'status'] as const).filter((column) => query[column] !== undefined);
    return listRows<User>(this.db, query, {
      ...LIST,
      where: ['1 = 1', ...asked.map((column) => `${column} = ?`)].join(' AND '),
      values: asked.map((column) => query[column] as number),
    });
  }

  async roleOf(username_key: string): Promise<Role | undefined> {
    const row = await this.db.row<{ role: Role }>('SELECT role FROM users WHERE username_key = ?', [username_key]);
    return row?.role;
  }

  /** Name, role and status of a user. */
  standing(id: number): Promise<Pick<User, 'username' | 'role' | 'status'> | undefined> {
    return this.db.row('SELECT username, role, status FROM users WHERE id = ?', [id]);
  }

  /** Which of these ids, at most some dozens, are users. */
  async among(ids: readonly number[]): Promise<Set<number>> {
    if (!ids.length) return new Set();
    const sql = `SELECT id FROM users WHERE id IN (${marks(ids.length)})`;
    return new Set((await this.db.rows<{ id: number }>(sql, ids)).map(({ id }) => id));
  }

  /** The same, and whether the user has a second factor. */
  standingWithFactor(
    id: number,
  ): Promise<{ username: string; role: Role; status: number; has_factor: number } | undefined> {
    return this.db.row(`SELECT u.username, u.role, u.status, ${HAS_FACTOR} AS has_factor FROM users u WHERE u.id = ?`, [
      id,
    ]);
  }

  /** The addresses of all active administrators and of one user, with their language and time zone. */
  readers(userId: number, manager: EntityManager): Promise<({ email: string } & Reader)[]> {
    return this.db.rows(
      `SELECT email, language, timezone FROM users
        WHERE status = 1 AND email IS NOT NULL AND (role >= ? OR id = ?) ORDER BY id`,
      [Role.Admin, userId],
      manager,
    );
  }

  /** Whether there is an active super administrator. */
  async hasSuper(manager: EntityManager): Promise<boolean> {
    const sql = 'SELECT id FROM users WHERE role = ? AND status = 1 LIMIT 1';
    return (await this.db.row(sql, [Role.Super], manager)) !== undefined;
  }

  async hasAny(manager?: EntityManager): Promise<boolean> {
    return (await this.db.row('SELECT id FROM users LIMIT 1', [], manager)) !== undefined;
  }

  async isTaken(column: 'username_key' | 'email_key', value: string, manager?: EntityManager): Promise<boolean> {
    return (await this.db.row(`SELECT id FROM users WHERE ${column} = ?`, [value], manager)) !== undefined;
  }

  /** Whether a user has any sign-in method. */
  async canSignIn(id: number, manager: EntityManager): Promise<boolean> {
    const sql = `SELECT id FROM users u WHERE id = ? AND ${CAN_SIGN_IN}`;
    return (await this.db.row(sql, [id], manager)) !== undefined;
  }

  /** Whether any active user of this role has a sign-in method. */
  async someCanSignIn(role: Role, manager: EntityManager): Promise<boolean> {
    const sql = `SELECT id FROM users u WHERE role = ? AND status = 1 AND ${CAN_SIGN_IN} LIMIT 1`;
    return (await this.db.row(sql, [role], manager)) !== undefined;
  }

  /**
   * Locks a user until the transaction ends: changes of one user follow each other. Comes before the end of the audit
   * chain, which each change needs last.
   * @returns whether there is such a user
   */
  lock(id: number, manager: EntityManager): Promise<boolean> {
    return this.db.lock(manager, 'users', { id });
  }

  /** Locks and finds an active user. */
  async lockActive(by: { id: number } | { username_key: string }, manager: EntityManager): Promise<User | null> {
    return (await this.db.lock(manager, 'users', by)) ? this.find({ ...by, status: 1 }, manager) : null;
  }

  /**
   * Locks a user and all active super administrators: of two changes that would remove the last two of them, the second
   * sees what the first did. Locks in the order of the ids, so that two of these do not wait for each other.
   */
  async lockWithSupers(id: number, manager: EntityManager): Promise<void> {
    // a transaction on SQLite has to begin with a lock, not with a read; it has one lock, whatever the row
    await this.lock(0, manager);
    const sql = 'SELECT id FROM users WHERE id = ? OR (role = ? AND status = 1) ORDER BY id';
    const locked = new Set<number>();
    for (;;) {
      const rows = await this.db.rows<{ id: number }>(sql, [id, Role.Super], manager);
      // somebody may have become one while this waited
      const open = rows.filter((row) => !locked.has(row.id));
      if (!open.length) return;
      for (const row of open) {
        await this.lock(row.id, manager);
        locked.add(row.id);
      }
    }
  }

  /** @returns the id of the new user */
  async insert(row: Omit<User, 'id'>, manager: EntityManager): Promise<number> {
    const { identifiers } = await manager.insert(User, row);
    return Number(identifiers[0]?.id);
  }

  async update(id: number, changes: Partial<User>, manager: EntityManager): Promise<void> {
    await manager.update(User, { id }, changes);
  }

  /** Deletes a user; foreign keys delete what is the user's alone. */
  async delete(id: number, manager: EntityManager): Promise<void> {
    await manager.delete(User, { id });
  }

  /**
   * Stores the time of a login. Locks the user: a change of the password or of the status, or a revocation, comes
   * before, and is seen here, or after.
   * @returns false when the user was disabled or the password changed meanwhile
   */
  async storeLogin(
    { id, password_hash }: Pick<User, 'id' | 'password_hash'>,
    at: string,
    manager: EntityManager,
  ): Promise<boolean> {
    const sql = 'UPDATE users SET last_login_at = ? WHERE id = ? AND status = 1 AND password_hash = ?';
    return (await this.db.run(sql, [at, id, password_hash], manager)) > 0;
  }

  /** Stores whether an authenticator app is in use. */
  async setTotp(id: number, on: boolean, manager: EntityManager): Promise<void> {
    await this.db.run('UPDATE users SET totp_enabled = ? WHERE id = ?', [on, id], manager);
  }

  /** Stores another hash of the same password. @returns false when the password was changed meanwhile */
  async rehash({ id, password_hash }: Pick<User, 'id' | 'password_hash'>, fresh: string): Promise<boolean> {
    const { affected } = await this.db.source.manager.update(User, { id, password_hash }, { password_hash: fresh });
    return Boolean(affected);
  }
}
