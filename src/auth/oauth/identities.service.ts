import { Injectable } from '@nestjs/common';
import { type Caller, signedIn } from '../../access/access.js';
import { AuditService } from '../../audit/audit.service.js';
import { now } from '../../platform/common/clock.js';
import { errors } from '../../platform/common/errors.js';
import { Db, isDuplicate } from '../../platform/database/db.js';
import { UsersService } from '../../users/users.service.js';
import { SignInMethods } from '../sessions/sign-in-methods.js';
import type { Person } from './claims.js';
import { IdentitiesRepository } from './identities.repository.js';
import type { BoundIdentity } from './oauth.dto.js';

/** Of two concurrent sign-ins of a new person one creates the account, and the other finds it. */
const TRIES = 3;

/** Binds people at providers to users, by issuer and subject, never by an e-mail address or a name. */
@Injectable()
export class IdentitiesService {
  constructor(
    private readonly db: Db,
    private readonly identities: IdentitiesRepository,
    private readonly users: UsersService,
    private readonly signInMethods: SignInMethods,
    private readonly audit: AuditService,
  ) {}

  /** The caller's own identities, by provider. */
  list(caller: Caller): Promise<BoundIdentity[]> {
    return this.identities.of(signedIn(caller).userId);
  }

  /** Creates a user (role 1) for a person who is bound to none. @returns the user's id */
  async adopt(provider: string, person: Person, caller: Caller): Promise<number> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.db.transaction(async (manager) => {
          const owner = await this.identities.owner(person, manager);
          if (owner) return owner;
          const { id, username, email, role } = await this.users.createWithoutPassword(manager, person);
          await this.identities.insert(id, provider, person, now(), manager);
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

  /** Binds a person to the caller; repeating it changes nothing. @throws AppError 409001 */
  async bind(provider: string, person: Person, caller: Caller): Promise<void> {
    const { userId, username } = signedIn(caller);
    try {
      await this.db.transaction(async (manager) => {
        const owner = await this.identities.owner(person, manager);
        if (owner && owner !== userId) throw errors.conflict('binding_of_another');
        if (!owner) {
          if (await this.identities.at(provider, userId, manager)) throw errors.conflict('binding_of_provider');
          await this.identities.insert(userId, provider, person, now(), manager);
        }
        const target = { type: 'user', id: userId, name: username };
        await this.audit.write(manager, caller, {
          action: 'oauth.bind',
          target,
          after: { provider, issuer: person.issuer, subject: person.subject, name: person.name },
        });
      });
    } catch (error) {
      if (isDuplicate(error)) throw errors.conflict('bound_just_now');
      throw error;
    }
  }

  /** @throws AppError 404001 not bound, 409001 the last sign-in method */
  async unbind(provider: string, caller: Caller): Promise<void> {
    const { userId, username } = signedIn(caller);
    await this.db.transaction(async (manager) => {
      const bound = await this.identities.at(provider, userId, manager);
      if (!bound || !(await this.identities.delete(provider, userId, manager))) throw errors.notFound('binding');
      await this.signInMethods.assertLeft(manager, userId);
      const target = { type: 'user', id: userId, name: username };
      await this.audit.write(manager, caller, { action: 'oauth.unbind', target, before: { provider, ...bound } });
    });
  }
}
