import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { type Caller, Role } from '../../access/access.js';
import { AuditService } from '../../audit/audit.service.js';
import { ChallengesService } from '../../auth/sessions/challenges.service.js';
import { SessionsService } from '../../auth/sessions/sessions.service.js';
import { allOf, errors } from '../../platform/common/errors.js';
import { assertUnchanged, same } from '../../platform/common/read-only.js';
import { alsoJudge } from '../../platform/common/validation.js';
import { Db, isDuplicate } from '../../platform/database/db.js';
import { hashingFor, Passwords } from '../../users/passwords.js';
import { type UserView } from '../../users/user.dto.js';
import type { User } from '../../users/user.entity.js';
import { userView } from '../../users/user-view.js';
import { UsersRepository } from '../../users/users.repository.js';
import { UsersService } from '../../users/users.service.js';
import { HoldingsService } from './holdings.service.js';
import { type Revoked, type RevokeInput, UserInput, UserPatch, type UserQuery, type UserUpdated } from './users.dto.js';

const target = ({ id, username }: User) => ({ type: 'user', id, name: username });

/** Users as administrators see and change them. One active super administrator is always left. */
@Injectable()
export class UserAdministration {
  constructor(
    private readonly db: Db,
    private readonly users: UsersRepository,
    private readonly usersService: UsersService,
    private readonly sessions: SessionsService,
    private readonly challenges: ChallengesService,
    private readonly holdings: HoldingsService,
    private readonly audit: AuditService,
    private readonly passwords: Passwords,
  ) {
    alsoJudge(UserInput, (input) => usersService.problems(input, input.role ?? Role.User));
    alsoJudge(UserPatch, ({ password, nickname, email, role = Role.User }) =>
      usersService.problems({ password, nickname, email }, role),
    );
  }

  /** A page of the users that a query asks for, and how many there are. @throws AppError 400001 */
  async list(query: UserQuery): Promise<{ total: number; list: UserView[] }> {
    const { total, list } = await this.users.list(query);
    return { total, list: list.map(userView) };
  }

  /** @throws AppError 404001 */
  async get(id: number): Promise<UserView> {
    return userView(await this.find(id));
  }

  /** @throws AppError 400001, 409001 a name or address that exists */
  create(caller: Caller, { role = Role.User, ...input }: UserInput): Promise<UserView> {
    return this.usersService.create(input, role, 'user.create', caller);
  }

  /**
   * Changes what is given; a new password, or disabling, ends all sessions and open challenges of the user.
   * @throws AppError 400001, 404001, 409001
   */
  async update(caller: Caller, id: number, patch: UserPatch): Promise<UserUpdated> {
    const hash = await this.hashOf(id, patch, caller);
    try {
      return await this.changing(id, async (manager) => {
        const before = await this.find(id, manager);
        const changes = changesOf(before, patch);
        if (hash) changes.password_hash = hash;
        const after = { ...before, ...changes };
        if (same(before, after)) {
          this.audit.notNeeded(caller);
          return userView(before);
        }
        await this.users.update(id, changes, manager);
        const shut = hash !== null || after.status !== 1;
        // a flow that began before must not undo this
        if (shut) {
          await this.sessions.endAll(manager, id);
          await this.challenges.dropAll(manager, id);
        } else if (after.email_key !== before.email_key) {
          // a link that was mailed to the old address becomes invalid
          await this.challenges.drop('reset', id, manager);
        }
        await this.assertSuperLeft(manager);
        await this.audit.write(manager, caller, {
          action: 'user.update',
          target: target(before),
          before: userView(before),
          after: hash ? { ...userView(after), password_changed: true } : userView(after),
        });
        return hash ? { ...userView(after), holds: await this.holdings.of(manager, id) } : userView(after);
      });
    } catch (error) {
      if (isDuplicate(error)) throw errors.taken('email', 'email_taken');
      throw error;
    }
  }

  /** Deletes all credentials of a user besides the password. @throws AppError 404001, 409001 */
  async revokeAll(caller: Caller, id: number, { second_factor = false }: RevokeInput): Promise<Revoked> {
    return this.changing(id, async (manager) => {
      const user = await this.find(id, manager);
      const revoked = await this.holdings.revoke(manager, id, second_factor);
      if (user.role === Role.Super && !(await this.users.someCanSignIn(Role.Super, manager)))
        throw errors.conflict('no_sign_in_left');
      const entry = { action: 'user.revoke_all' as const, target: target(user), after: revoked };
      await this.audit.write(manager, caller, entry);
      return revoked;
    });
  }

  /**
   * Deletes a user; foreign keys delete sessions and tokens, and leave domains and accounts without an owner.
   * @throws AppError 404001, 409001
   */
  async remove(caller: Caller, id: number): Promise<void> {
    await this.changing(id, async (manager) => {
      const before = await this.find(id, manager);
      await this.users.delete(id, manager);
      await this.assertSuperLeft(manager);
      await this.audit.write(manager, caller, {
        action: 'user.delete',
        target: target(before),
        before: userView(before),
      });
    });
  }

  /**
   * A transaction that changes one user: concurrent sign-ins and new tokens come before it, or after it and see the
   * change. Of two that remove the last two super administrators, the second sees what the first did.
   */
  private changing<T>(id: number, work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.db.transaction(async (manager) => {
      await this.users.lockWithSupers(id, manager);
      return work(manager);
    });
  }

  private async assertSuperLeft(manager: EntityManager): Promise<void> {
    if (!(await this.users.hasSuper(manager))) throw errors.conflict('last_super_administrator');
  }

  /** @returns the hash of a password that is given @throws AppError 400001 naming all that is wrong, 404001 */
  private async hashOf(id: number, patch: UserPatch, caller: Caller): Promise<string | null> {
    const { nickname, email, password } = patch;
    const user = await this.find(id);
    const known = { ...user, nickname: nickname ?? user.nickname, email: email === undefined ? user.email : email };
    await allOf(
      () => assertUnchanged(patch, userView(user)),
      () => password !== undefined && this.usersService.assertGoodPassword(known, password, 'password'),
    );
    return password === undefined ? null : this.passwords.hash(password, hashingFor(caller));
  }

  private async find(id: number, manager?: EntityManager): Promise<User> {
    const user = await this.users.find({ id }, manager);
    if (!user) throw errors.notFound('user');
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
