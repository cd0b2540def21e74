import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { errors } from '../../platform/common/errors.js';
import { UsersRepository } from '../../users/users.repository.js';

/** How users can sign in: with a password, passkeys, identities at providers. */
@Injectable()
export class SignInMethods {
  constructor(private readonly users: UsersRepository) {}

  /**
   * Call it in the transaction that removed a sign-in method.
   * @throws AppError 409001 when none is left
   */
  async assertLeft(manager: EntityManager, userId: number): Promise<void> {
    // two transactions that remove the last two methods at once follow each other
    await this.users.lock(userId, manager);
    if (!(await this.users.canSignIn(userId, manager))) throw errors.conflict('last_sign_in_method');
  }
}
