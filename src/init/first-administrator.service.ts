import { Injectable } from '@nestjs/common';
import { Role } from '../access/access.js';
import type { Actor } from '../audit/audit.service.js';
import { SigningKey } from '../auth/sessions/signing-key.js';
import { errors } from '../platform/common/errors.js';
import { Db, isDuplicate } from '../platform/database/db.js';
import { type NewUser, UsersService } from '../users/users.service.js';

/** Creates the first super administrator, and with it the secret that signs logins. */
@Injectable()
export class FirstAdministrator {
  constructor(
    private readonly db: Db,
    private readonly users: UsersService,
    private readonly key: SigningKey,
  ) {}

  /** Check and insert are one transaction: of two parallel calls one gets 403. @throws AppError 400001, 403001 */
  async create(input: NewUser, caller: Actor): Promise<void> {
    const row = await this.users.prepare(input, Role.Super, { friend: false, user: null });
    try {
      await this.db.transaction(async (manager) => {
        // before the check: two parallel calls meet at the row of the secret, since there is no user yet to lock
        await this.key.create(manager);
        if (await this.users.hasAny(manager)) throw errors.forbidden('already_initialised');
        await this.users.insert(manager, row, 'init.admin', caller);
      });
    } catch (error) {
      if (isDuplicate(error)) throw errors.forbidden('already_initialised');
      throw error;
    }
  }
}
