import { Injectable } from '@nestjs/common';
import type { EntityManager, FindOptionsWhere } from 'typeorm';
import { type Actor, AuditService } from '../audit/audit.service.js';
import { type Caller, Role } from '../common/access.js';
import { now } from '../common/clock.js';
import { errors, type FieldError, fieldError } from '../common/errors.js';
import { randomHex } from '../common/hash.js';
import { Db, isDuplicate } from '../database/db.js';
import { isEmail } from '../settings/checks.js';
import { SettingsService } from '../settings/settings.service.js';
import { type Hashing, hashingFor, hashPassword, passwordProblem } from './passwords.js';
import type { UserView } from './user.dto.js';
import { User } from './user.entity.js';
import { USER_COLUMNS, userView } from './user-view.js';

type NewRow = Omit<User, 'id'>;

/** What differs between new users. */
type Given = Pick<User, 'username' | 'email' | 'nickname' | 'password_hash' | 'role' | 'language'>;

const newRow = (given: Given): NewRow => ({
  ...given,
  username_key: given.username.toLowerCase(),
  email_key: given.email?.toLowerCase() ?? null,
  status: 1,
  totp_enabled: false,
  created_at: now(),
  last_login_at: null,
  theme: null,
  timezone: null,
  email_verified: null,
});

export interface NewUser {
  username: string;
  password: string;
  email?: string | null;
  nickname?: string | null;
}

/** The table of users: what others change of a user, they change by a method of this, in their own transaction. */
@Injectable()
export class UsersService {
  private exist = false;

  constructor(
    private readonly db: Db,
    private readonly settings: SettingsService,
    private readonly audit: AuditService,
  ) {}

  /** Whether any user exists; asked at the database until the answer is yes, which it then stays. */
  async someExist(): Promise<boolean> {
    this.exist ||= await this.hasAny();
    return this.exist;
  }

  /** The user of whom all this is true. */
  find(by: FindOptionsWhere<User>, manager: EntityManager = this.db.source.manager): Promise<User | null> {
    return manager.findOneBy(User, by);
  }

  /** The user behind a request. @throws EntityNotFoundError when there is none any more */
  get(id: number): Promise<User> {
    return this.db.source.manager.findOneByOrFail(User, { id });
  }

  /**
   * Locks a user until the transaction ends: changes of one user follow each other. Comes before the end of the audit
   * chain, which each change needs last.
   * @returns whether there is such a user
   */
  lock(manager: EntityManager, id: number): Promise<boolean> {
    return this.db.lock(manager, 'users', { id });
  }

  /** The same of an active user, whom this finds. */
  async lockActive(manager: EntityManager, by: { id: number } | { username_key: string }): Promise<User | null> {
    return (await this.db.lock(manager, 'users', by)) ? this.find({ ...by, status: 1 }, manager) : null;
  }

  /**
   * Locks a user and all active super administrators: of two changes that would take the last two of them away, the
   * second sees what the first did. The lowest id first, so that two of these do not wait for each other.
   */
  async lockWithSupers(manager: EntityManager, id: number): Promise<void> {
    // SQLite wants a transaction to begin with what locks, not with what reads; it has one lock, whatever the row
    await this.lock(manager, 0);
    const sql = 'SELECT id FROM users WHERE id = ? OR (role = ? AND status = 1) ORDER BY id';
    const locked = new Set<number>();
    for (;;) {
      const rows = await this.db.rows<{ id: number }>(sql, [id, Role.Super], manager);
      // somebody may have become one while this waited
      const open = rows.filter((row) => !locked.has(row.id));
      if (!open.length) return;
      for (const row of open) {
        await this.lock(manager, row.id);
        locked.add(row.id);
      }
    }
  }

  /** What is shown of a user. A statement that stays prepared: every console asks for it all the time. */
  async view(id: number): Promise<UserView | null> {
    const row = await this.db.row<User>(`SELECT ${USER_COLUMNS} FROM users WHERE id = ?`, [id]);
    return row ? userView(row) : null;
  }

  /** The role of a name, which need not be anybody's: that of a user then. */
  async roleOf(username_key: string): Promise<Role> {
    const row = await this.db.row<{ role: Role }>('SELECT role FROM users WHERE username_key = ?', [username_key]);
    return row?.role ?? Role.User;
  }

  /** Whether there is an active super administrator. */
  async hasSuper(manager: EntityManager): Promise<boolean> {
    const sql = 'SELECT id FROM users WHERE role = ? AND status = 1 LIMIT 1';
    return (await this.db.row(sql, [Role.Super], manager)) !== undefined;
  }

  /** Whether any user exists, as the database says now. */
  async hasAny(manager?: EntityManager): Promise<boolean> {
    return (await this.db.row('SELECT id FROM users LIMIT 1', [], manager)) !== undefined;
  }

  /**
   * Notes a login. Locks the user: whoever changes the password, disables the user or revokes all at this moment comes
   * before, and is seen here, or after.
   * @returns the time, or null when the user was disabled or the password changed meanwhile
   */
  async touchLogin(
    manager: EntityManager,
    { id, password_hash }: Pick<User, 'id' | 'password_hash'>,
  ): Promise<string | null> {
    const sql = 'UPDATE users SET last_login_at = ? WHERE id = ? AND status = 1 AND password_hash = ?';
    const at = now();
    return (await this.db.run(sql, [at, id, password_hash], manager)) ? at : null;
  }

  /** Whether an authenticator app is in use. */
  async setTotp(manager: EntityManager, id: number, on: boolean): Promise<void> {
    await this.db.run('UPDATE users SET totp_enabled = ? WHERE id = ?', [on, id], manager);
  }

  /** The same password under another hash. @returns false when it was changed meanwhile, and stays */
  async rehash({ id, password_hash }: Pick<User, 'id' | 'password_hash'>, fresh: string): Promise<boolean> {
    const { affected } = await this.db.source.manager.update(User, { id, password_hash }, { password_hash: fresh });
    return Boolean(affected);
  }

  /** Changes what is given of a user. */
  async update(manager: EntityManager, id: number, changes: Partial<User>): Promise<void> {
    await manager.update(User, { id }, changes);
  }

  /** Deletes a user; the keys of the database take along what is the user's alone. */
  async remove(manager: EntityManager, id: number): Promise<void> {
    await manager.delete(User, { id });
  }

  /** A stranger's own account. @throws AppError 400001, 403001 where that is off, 409001 */
  async register(input: NewUser, caller: Caller): Promise<UserView> {
    if (!(await this.settings.read('general')).registration_enabled) throw errors.forbidden('Registration is off');
    return this.create(input, Role.User, 'auth.register', caller);
  }

  /** A user with a password. @throws AppError 400001, 409001 a name or address that exists */
  async create(input: NewUser, role: Role, action: string, caller: Actor): Promise<UserView> {
    const row = await this.prepare(input, role, hashingFor(caller));
    try {
      return await this.db.transaction((manager) => this.insert(manager, row, action, caller));
    } catch (error) {
      if (isDuplicate(error)) throw await this.duplicate(row);
      throw error;
    }
  }

  /**
   * A user (role 1) without password, for who signs in at a provider: a name that is taken gets a number, an address
   * that is taken is left out. The caller logs it.
   * @param username 1 to 48 characters of those that a name may have
   */
  async createWithoutPassword(
    manager: EntityManager,
    { username, email, nickname }: { username: string; email: string | null; nickname: string | null },
  ): Promise<Pick<User, 'id' | 'username' | 'email' | 'role'>> {
    const taken = (column: 'username_key' | 'email_key', value: string) =>
      this.db.row(`SELECT id FROM users WHERE ${column} = ?`, [value.toLowerCase()], manager);
    let name = username;
    for (let n = 2; await taken('username_key', name); n++) name = `${username}-${n < 10 ? n : randomHex(4)}`;
    const address = email && !(await taken('email_key', email)) ? email : null;
    const { language } = await this.settings.read('general', manager);
    const row = newRow({
      username: name,
      email: address,
      nickname: nickname || name,
      password_hash: '',
      role: Role.User,
      language,
    });
    const { identifiers } = await manager.insert(User, row);
    return { ...row, id: Number(identifiers[0]?.id) };
  }

  /** @throws AppError 400001 naming `path` */
  async assertGoodPassword(
    user: Pick<User, 'username' | 'email' | 'nickname' | 'role'>,
    password: string,
    path: string,
  ): Promise<void> {
    const { password_policy } = await this.settings.securityFor(user.role);
    const weak = await passwordProblem(password, [user.username, user.email ?? '', user.nickname], password_policy);
    if (weak) throw errors.field(path, weak);
  }

  /** All that is wrong with a new user, as far as it is given. */
  async problems({ username, password, email, nickname }: Partial<NewUser>, role: Role): Promise<FieldError[]> {
    const list: FieldError[] = [];
    const name = username?.trim();
    const address = email?.trim() || null;
    // a few letters become two in lower case
    if (name !== undefined && (!/^[\p{L}\p{N}._@+-]{1,64}$/u.test(name) || name.toLowerCase().length > 64)) {
      list.push(fieldError('username', 'must be 1 to 64 letters, digits or . _ @ + -'));
    }
    if (password !== undefined) {
      const { password_policy } = await this.settings.securityFor(role);
      const weak = await passwordProblem(password, [name ?? '', address ?? '', nickname ?? ''], password_policy);
      if (weak) list.push(fieldError('password', weak));
    }
    if (address && !isEmail(address)) list.push(fieldError('email', 'must be an e-mail address'));
    return list;
  }

  /** The row of a new user, its password hashed. @throws AppError 400001 naming all that is wrong */
  async prepare(input: NewUser, role: Role, hashing: Hashing): Promise<NewRow> {
    const list = await this.problems(input, role);
    if (list.length) throw errors.validation(list);
    const { password, nickname } = input;
    const username = input.username.trim();
    const email = input.email?.trim() || null;
    const { language } = await this.settings.read('general');
    const password_hash = await hashPassword(password, hashing);
    return newRow({ username, email, nickname: nickname?.trim() || username, password_hash, role, language });
  }

  /** Inserts and logs it. */
  async insert(manager: EntityManager, row: NewRow, action: string, caller: Actor): Promise<UserView> {
    const { identifiers } = await manager.insert(User, row);
    const user = { ...row, id: Number(identifiers[0]?.id) };
    const { username, email, role } = row;
    const target = { type: 'user', id: user.id, name: username };
    await this.audit.write(manager, caller, { action, target, after: { username, email, role } });
    return userView(user);
  }

  private async duplicate({ username_key }: NewRow) {
    const taken = await this.db.row('SELECT id FROM users WHERE username_key = ?', [username_key]);
    return taken ? errors.taken('username', 'exists already') : errors.taken('email', 'belongs to another user');
  }
}
