import { Injectable } from '@nestjs/common';
import type { EntityManager, FindOptionsWhere } from 'typeorm';
import { type Caller, Role } from '../access/access.js';
import type { AuditAction } from '../access/audit-actions.js';
import { type Actor, AuditService } from '../audit/audit.service.js';
import { now } from '../platform/common/clock.js';
import { errors, fieldError } from '../platform/common/errors.js';
import { randomHex } from '../platform/common/hash.js';
import type { OrUndefined } from '../platform/common/validation.js';
import { type FieldError } from '../platform/common/words/codes.js';
import { Db, isDuplicate } from '../platform/database/db.js';
import { isEmail } from '../settings/checks.js';
import { SettingsService } from '../settings/settings.service.js';
import { type Hashing, hashingFor, Passwords, passwordProblem } from './passwords.js';
import type { UserView } from './user.dto.js';
import type { User } from './user.entity.js';
import { userView } from './user-view.js';
import { UsersRepository } from './users.repository.js';

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

/** Creates users, and checks what a user must fulfil. */
@Injectable()
export class UsersService {
  private exist = false;

  constructor(
    private readonly db: Db,
    private readonly users: UsersRepository,
    private readonly settings: SettingsService,
    private readonly audit: AuditService,
    private readonly passwords: Passwords,
  ) {}

  /** Whether any user exists; queried until the answer is yes, which is then remembered. */
  async someExist(): Promise<boolean> {
    this.exist ||= await this.hasAny();
    return this.exist;
  }

  /** The same, always queried. */
  hasAny(manager?: EntityManager): Promise<boolean> {
    return this.users.hasAny(manager);
  }

  /** The user of whom all this is true. */
  find(by: FindOptionsWhere<User>): Promise<User | null> {
    return this.users.find(by);
  }

  /** Self-registration. @throws AppError 400001, 403001 where that is off, 409001 */
  async register(input: NewUser, caller: Caller): Promise<UserView> {
    if (!(await this.settings.read('general')).registration_enabled) throw errors.forbidden('registration_off');
    return this.create(input, Role.User, 'auth.register', caller);
  }

  /** A user with a password. @throws AppError 400001, 409001 a name or address that exists */
  async create(input: NewUser, role: Role, action: AuditAction, caller: Actor): Promise<UserView> {
    const row = await this.prepare(input, role, hashingFor(caller));
    try {
      return await this.db.transaction((manager) => this.insert(manager, row, action, caller));
    } catch (error) {
      if (isDuplicate(error)) throw await this.duplicate(row);
      throw error;
    }
  }

  /**
   * A user (role 1) without a password, for a sign-in at a provider: a name that is taken gets a number, an address
   * that is taken is left out. The caller writes the audit entry.
   * @param username 1 to 48 characters of those that a name may have
   */
  async createWithoutPassword(
    manager: EntityManager,
    { username, email, nickname }: { username: string; email: string | null; nickname: string | null },
  ): Promise<Pick<User, 'id' | 'username' | 'email' | 'role'>> {
    const taken = (column: 'username_key' | 'email_key', value: string) =>
      this.users.isTaken(column, value.toLowerCase(), manager);
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
    return { ...row, id: await this.users.insert(row, manager) };
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

  /** All that is wrong with the given fields of a new user. */
  async problems(
    { username, password, email, nickname }: OrUndefined<Partial<NewUser>>,
    role: Role,
  ): Promise<FieldError[]> {
    const list: FieldError[] = [];
    const name = username?.trim();
    const address = email?.trim() || null;
    // the lower case of a few characters has two
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
    const password_hash = await this.passwords.hash(password, hashing);
    return newRow({ username, email, nickname: nickname?.trim() || username, password_hash, role, language });
  }

  /** Inserts a user and writes the audit entry. */
  async insert(manager: EntityManager, row: NewRow, action: AuditAction, caller: Actor): Promise<UserView> {
    const user = { ...row, id: await this.users.insert(row, manager) };
    const { username, email, role } = row;
    const target = { type: 'user', id: user.id, name: username };
    await this.audit.write(manager, caller, { action, target, after: { username, email, role } });
    return userView(user);
  }

  private async duplicate({ username_key }: NewRow) {
    return (await this.users.isTaken('username_key', username_key))
      ? errors.taken('username', 'username_exists')
      : errors.taken('email', 'email_taken');
  }
}
