import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AuditService } from '../audit/audit.service.js';
import { type Caller, Role } from '../common/access.js';
import { errors } from '../common/errors.js';
import type { PageQuery } from '../common/paging.dto.js';
import { Db, isDuplicate } from '../database/db.js';
import { type ListSql, listRows } from '../database/lists.js';
import { hashPassword } from './passwords.js';
import { SessionsService } from './sessions.service.js';
import type { UserInput, UserPatch, UserView } from './user.dto.js';
import { User } from './user.entity.js';
import { userView } from './user-view.js';
import { UsersService } from './users.service.js';

const LIST: ListSql = {
  columns: 'id, username, nickname, email, role, status, totp_enabled, language, created_at, last_login_at',
  from: 'users',
  where: '1 = 1',
  values: [],
  sorts: {
    id: 'id',
    username: 'username_key',
    created_at: 'created_at',
    // null comes first here and last there
    last_login_at: `COALESCE(last_login_at, '')`,
  },
  fallback: 'id',
  id: 'id',
  search: ['username_key', 'LOWER(nickname)', 'email_key'],
};

const target = ({ id, username }: User) => ({ type: 'user', id, name: username });

/** Users as administrators see and change them. One active super administrator is always left. */
@Injectable()
export class UserAdministration {
  constructor(
    private readonly db: Db,
    private readonly users: UsersService,
    private readonly sessions: SessionsService,
    private readonly audit: AuditService,
  ) {}

  /** A page of all users, and how many there are. @throws AppError 400001 */
  async list(query: PageQuery): Promise<{ total: number; list: UserView[] }> {
    const { total, list } = await listRows<User>(this.db, query, LIST);
    return { total, list: list.map(userView) };
  }

  /** @throws AppError 404001 */
  async get(id: number): Promise<UserView> {
    return userView(await this.find(this.db.source.manager, id));
  }

  /** @throws AppError 400001, 409001 a name or address that exists */
  create(caller: Caller, { role = Role.User, ...input }: UserInput): Promise<UserView> {
    return this.users.create(input, role, 'user.create', caller);
  }

  /** Changes what is given; with a password, or when disabled, all sessions of the user end. @throws AppError 400001, 404001, 409001 */
  async update(caller: Caller, id: number, patch: UserPatch): Promise<UserView> {
    const hash = patch.password === undefined ? null : await this.newHash(id, patch, patch.password);
    try {
      return await this.changing(async (manager) => {
        const before = await this.find(manager, id);
        const changes = changesOf(before, patch);
        if (hash) changes.password_hash = hash;
        if (Object.keys(changes).length) await manager.update(User, { id }, changes);
        const after = { ...before, ...changes };
        const shut = hash !== null || after.status !== 1;
        if (shut) await this.sessions.endAll(manager, id);
        // a link that was mailed before must not undo this. By SQL, since what keeps the links stands on this folder
        if (shut || after.email_key !== before.email_key) {
          await this.db.run(`DELETE FROM challenges WHERE kind = 'reset' AND user_id = ?`, [id], manager);
        }
        await this.assertSuperLeft(manager);
        await this.audit.write(manager, caller, {
          action: 'user.update',
          target: target(before),
          before: userView(before),
          after: { ...userView(after), ...(hash ? { password_changed: true } : {}) },
        });
        return userView(after);
      });
    } catch (error) {
      if (isDuplicate(error)) throw errors.conflict('email: belongs to another user');
      throw error;
    }
  }

  /** Deletes a user; the keys of the database take sessions and tokens along, and leave domains and accounts without owner. @throws AppError 404001, 409001 */
  async remove(caller: Caller, id: number): Promise<void> {
    await this.changing(async (manager) => {
      const before = await this.find(manager, id);
      await manager.delete(User, { id });
      await this.assertSuperLeft(manager);
      await this.audit.write(manager, caller, {
        action: 'user.delete',
        target: target(before),
        before: userView(before),
      });
    });
  }

  /** A transaction that follows all others of this kind: of two that take the last two super administrators away, the second sees what the first did. */
  private changing<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.db.transaction(async (manager) => {
      await this.db.run('UPDATE audit_chain SET seq = seq WHERE id = 1', [], manager);
      return work(manager);
    });
  }

  private async assertSuperLeft(manager: EntityManager): Promise<void> {
    const left = await this.db.row('SELECT id FROM users WHERE role = ? AND status = 1 LIMIT 1', [Role.Super], manager);
    if (!left) throw errors.conflict('This is the last active super administrator; make another one first');
  }

  private async newHash(id: number, { nickname, email }: UserPatch, password: string): Promise<string> {
    const user = await this.find(this.db.source.manager, id);
    const known = { ...user, nickname: nickname ?? user.nickname, email: email === undefined ? user.email : email };
    await this.users.assertGoodPassword(known, password, 'password');
    return hashPassword(password, true);
  }

  private async find(manager: EntityManager, id: number): Promise<User> {
    const user = await manager.findOneBy(User, { id });
    if (!user) throw errors.notFound('User');
    return user;
  }
}

function changesOf(user: User, { nickname, email, role, status }: UserPatch): Partial<User> {
  const changes: Partial<User> = {};
  if (nickname !== undefined) changes.nickname = nickname.trim();
  if (role !== undefined) changes.role = role;
  if (status !== undefined) changes.status = status;
  if (email !== undefined) {
    const email_key = email?.toLowerCase() ?? null;
    Object.assign(changes, { email, email_key });
    if (email_key !== user.email_key) changes.email_verified = false;
  }
  return changes;
}
