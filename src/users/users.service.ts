import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { type Actor, AuditService } from '../audit/audit.service.js';
import { SessionsService } from '../auth/sessions/sessions.service.js';
import { SigningKey } from '../auth/sessions/signing-key.js';
import { type Caller, Role } from '../common/access.js';
import { now } from '../common/clock.js';
import { errors, type FieldError, fieldError } from '../common/errors.js';
import { randomHex } from '../common/hash.js';
import { Db, isDuplicate } from '../database/db.js';
import { isEmail } from '../settings/checks.js';
import type { Language } from '../settings/settings.dto.js';
import { SettingsService } from '../settings/settings.service.js';
import { hashPassword, passwordProblem } from './passwords.js';
import type { UserView } from './user.dto.js';
import { User } from './user.entity.js';
import { userView } from './user-view.js';

type NewRow = Omit<User, 'id'>;

const newRow = (
  username: string,
  email: string | null,
  nickname: string,
  password_hash: string,
  role: Role,
  language: Language,
): NewRow => ({
  username,
  username_key: username.toLowerCase(),
  nickname,
  email,
  email_key: email?.toLowerCase() ?? null,
  password_hash,
  role,
  status: 1,
  language,
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

@Injectable()
export class UsersService {
  private exist = false;

  constructor(
    private readonly db: Db,
    private readonly key: SigningKey,
    private readonly settings: SettingsService,
    private readonly sessions: SessionsService,
    private readonly audit: AuditService,
  ) {}

  /** Whether any user exists; asked at the database until the answer is yes, which it then stays. */
  async someExist(): Promise<boolean> {
    this.exist ||= (await this.db.rows('SELECT id FROM users LIMIT 1')).length > 0;
    return this.exist;
  }

  /**
   * The first super administrator, and the signing secret. Check and insert are one transaction: of two parallel calls one gets 403.
   * @throws AppError 400001, 403001
   */
  async createFirst(input: NewUser, caller: Actor): Promise<void> {
    const row = await this.prepare(input, Role.Super, false);
    await this.db.transaction(async (manager) => {
      // locks: the row of the chain is the one that all transactions of this kind touch
      await this.db.run('UPDATE audit_chain SET seq = seq WHERE id = 1', [], manager);
      if (await this.db.row('SELECT id FROM users LIMIT 1', [], manager)) throw errors.forbidden('Already initialised');
      await this.key.create(manager);
      await this.insert(manager, row, 'init.admin', caller);
    });
  }

  /** A stranger's own account. @throws AppError 400001, 403001 where that is off, 409001 */
  async register(input: NewUser, caller: Caller): Promise<UserView> {
    if (!(await this.settings.read('general')).registration_enabled) throw errors.forbidden('Registration is off');
    return this.create(input, Role.User, 'auth.register', caller);
  }

  /** A user with a password. @throws AppError 400001, 409001 a name or address that exists */
  async create(input: NewUser, role: Role, action: string, caller: Actor): Promise<UserView> {
    const row = await this.prepare(input, role, caller === 'system' || caller.principal !== null);
    try {
      return await this.db.transaction((manager) => this.insert(manager, row, action, caller));
    } catch (error) {
      if (isDuplicate(error)) throw await this.duplicate(row);
      throw error;
    }
  }

  /**
   * A user (role 1) without password, for who signs in at a provider: a name that is taken gets a number, an address that is taken is left out. The caller logs it.
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
    const row = newRow(name, address, nickname || name, '', Role.User, language);
    const { identifiers } = await manager.insert(User, row);
    return { ...row, id: Number(identifiers[0]?.id) };
  }

  /** Stores a hashed password, ends the sessions (but one), and logs it. */
  async setPassword(
    manager: EntityManager,
    { id, username }: Pick<User, 'id' | 'username'>,
    hash: string,
    action: string,
    actor: Actor,
    keepSession: number | null,
  ): Promise<void> {
    await manager.update(User, { id }, { password_hash: hash });
    const sessions_ended = await this.sessions.endAll(manager, id, keepSession);
    const target = { type: 'user', id, name: username };
    await this.audit.write(manager, actor, { action, target, after: { sessions_ended } });
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
  private async prepare(input: NewUser, role: Role, friend: boolean): Promise<NewRow> {
    const list = await this.problems(input, role);
    if (list.length) throw errors.validation(list);
    const { password, nickname } = input;
    const name = input.username.trim();
    const address = input.email?.trim() || null;
    const { language } = await this.settings.read('general');
    return newRow(name, address, nickname?.trim() || name, await hashPassword(password, friend), role, language);
  }

  private async insert(manager: EntityManager, row: NewRow, action: string, caller: Actor): Promise<UserView> {
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
