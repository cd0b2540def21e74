import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AuditService } from '../../audit/audit.service.js';
import { type Caller, signedIn } from '../../common/access.js';
import { now } from '../../common/clock.js';
import { errors } from '../../common/errors.js';
import { Db, isDuplicate } from '../../database/db.js';
import { UsersService } from '../../users/users.service.js';
import { SignInMethods } from '../sessions/sign-in-methods.js';
import type { Person } from './claims.js';
import type { BoundIdentity } from './oauth.dto.js';

/** Of two sign-ins of one new person at once one makes the account, and the other finds it. */
const TRIES = 3;

type Subject = Pick<Person, 'issuer' | 'subject'>;

/** Who at which provider is which user. Matched by issuer and subject, never by an e-mail address or a name. */
@Injectable()
export class IdentitiesService {
  constructor(
    private readonly db: Db,
    private readonly users: UsersService,
    private readonly signInMethods: SignInMethods,
    private readonly audit: AuditService,
  ) {}

  /** One's own, by provider. */
  list(caller: Caller): Promise<BoundIdentity[]> {
    return this.db.rows<BoundIdentity>(
      'SELECT provider, name, created_at, last_used_at FROM identities WHERE user_id = ? ORDER BY provider',
      [signedIn(caller).userId],
    );
  }

  /** The user whom a person is bound to. */
  async owner({ issuer, subject }: Subject, manager?: EntityManager): Promise<number | null> {
    const sql = 'SELECT user_id FROM identities WHERE issuer = ? AND subject = ?';
    return (await this.db.row<{ user_id: number }>(sql, [issuer, subject], manager))?.user_id ?? null;
  }

  /** Notes that somebody signed in with it. */
  async used({ issuer, subject }: Subject): Promise<void> {
    const sql = 'UPDATE identities SET last_used_at = ? WHERE issuer = ? AND subject = ?';
    await this.db.run(sql, [now(), issuer, subject]);
  }

  /** A new user (role 1) for a person whom nobody is bound to. @returns the user's id */
  async adopt(provider: string, person: Person, caller: Caller): Promise<number> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.db.transaction(async (manager) => {
          const owner = await this.owner(person, manager);
          if (owner) return owner;
          const { id, username, email, role } = await this.users.createWithoutPassword(manager, person);
          await this.insert(manager, id, provider, person);
          await this.audit.write(manager, caller, {
            action: 'user.create',
            target: { type: 'user', id, name: username },
            after: { username, email, role, provider, issuer: person.issuer, subject: person.subject },
          });
          return id;
        });
      } catch (error) {
        if (attempt >= TRIES || !isDuplicate(error)) throw error;
      }
    }
  }

  /** Binds a person to the caller. The very same again changes nothing. @throws AppError 409001 */
  async bind(provider: string, person: Person, caller: Caller): Promise<void> {
    const { userId, username } = signedIn(caller);
    try {
      await this.db.transaction(async (manager) => {
        const owner = await this.owner(person, manager);
        if (owner && owner !== userId) throw errors.conflict('This sign-in is bound to another user');
        if (!owner) {
          const sql = 'SELECT id FROM identities WHERE user_id = ? AND provider = ?';
          if (await this.db.row(sql, [userId, provider], manager))
            throw errors.conflict('You have bound another sign-in of this provider; unbind it first');
          await this.insert(manager, userId, provider, person);
        }
        const target = { type: 'user', id: userId, name: username };
        await this.audit.write(manager, caller, {
          action: 'oauth.bind',
          target,
          after: { provider, issuer: person.issuer, subject: person.subject, name: person.name },
        });
      });
    } catch (error) {
      if (isDuplicate(error)) throw errors.conflict('This sign-in was bound just now');
      throw error;
    }
  }

  /** @throws AppError 404001 not bound, 409001 the last way in */
  async unbind(provider: string, caller: Caller): Promise<void> {
    const { userId, username } = signedIn(caller);
    await this.db.transaction(async (manager) => {
      const bound = await this.db.row<{ issuer: string; subject: string; name: string }>(
        'SELECT issuer, subject, name FROM identities WHERE user_id = ? AND provider = ?',
        [userId, provider],
        manager,
      );
      const sql = 'DELETE FROM identities WHERE user_id = ? AND provider = ?';
      if (!bound || !(await this.db.run(sql, [userId, provider], manager))) throw errors.notFound('Such a binding');
      await this.signInMethods.assertLeft(manager, userId);
      const target = { type: 'user', id: userId, name: username };
      await this.audit.write(manager, caller, { action: 'oauth.unbind', target, before: { provider, ...bound } });
    });
  }

  /** What somebody else is told of a user's bindings. */
  heldBy(manager: EntityManager, userId: number): Promise<Pick<BoundIdentity, 'provider' | 'name'>[]> {
    const sql = 'SELECT provider, name FROM identities WHERE user_id = ? ORDER BY provider';
    return this.db.rows(sql, [userId], manager);
  }

  /** Takes all of a user away. @returns how many */
  removeAll(manager: EntityManager, userId: number): Promise<number> {
    return this.db.run('DELETE FROM identities WHERE user_id = ?', [userId], manager);
  }

  private async insert(manager: EntityManager, userId: number, provider: string, person: Person): Promise<void> {
    await this.db.run(
      `INSERT INTO identities (user_id, provider, issuer, subject, name, created_at, last_used_at)
       VALUES (?, ?, ?, ?, ?, ?, NULL)`,
      [userId, provider, person.issuer, person.subject, person.name, now()],
      manager,
    );
  }
}
