import { Injectable } from '@nestjs/common';
import { type Caller, signedIn } from '../../access/access.js';
import { errors } from '../../platform/common/errors.js';
import { UsersRepository } from '../../users/users.repository.js';
import { PasswordService } from '../password/password.service.js';
import { SessionsService, showedSecondFactor } from '../sessions/sessions.service.js';
import { CodeCheck } from './code-check.service.js';
import type { Proof } from './second-factor.dto.js';

/** Guards changes that would turn a stolen or open session into permanent access. */
@Injectable()
export class FreshnessService {
  constructor(
    private readonly users: UsersRepository,
    private readonly passwords: PasswordService,
    private readonly codes: CodeCheck,
    private readonly sessions: SessionsService,
  ) {}

  /**
   * Demands proof of the owner: the password, a code, or a sign-in just now. With an authenticator app a password alone
   * is not enough, unless a second factor was shown in the session.
   * @throws AppError 401001 a wrong password or code, which counts as a failed login; 403001 without proof
   */
  async assertOwner(caller: Caller, { password, ...codes }: Proof): Promise<void> {
    const { userId, sessionId } = signedIn(caller);
    const user = await this.users.get(userId);
    if (codes.totpCode || codes.recoveryCode) return this.codes.check(user, codes, caller);
    if (user.totp_enabled && !showedSecondFactor(await this.sessions.shownIn(sessionId)))
      throw errors.forbidden(
        'fresh_second_factor_needed',
        {},
        {
          required: '2fa',
        },
      );
    // a user without a password has to sign in again
    if (password !== undefined && user.password_hash) await this.passwords.confirm(caller, password, 'password');
    else await this.sessions.assertFresh(caller, 'fresh_proof_needed');
  }
}
