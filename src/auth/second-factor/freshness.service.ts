import { Injectable } from '@nestjs/common';
import { type Caller, signedIn } from '../../common/access.js';
import { errors } from '../../common/errors.js';
import { Db } from '../../database/db.js';
import { User } from '../../users/user.entity.js';
import { AuthService } from '../login/auth.service.js';
import { amrOf, SessionsService, showedSecondFactor } from '../sessions/sessions.service.js';
import type { Proof } from './second-factor.dto.js';

/** For what would make a session that was stolen, or left open, a way in for good. */
@Injectable()
export class FreshnessService {
  constructor(
    private readonly db: Db,
    private readonly auth: AuthService,
    private readonly sessions: SessionsService,
  ) {}

  /**
   * That it is the owner: by the password, by a code, or by having signed in just now. With an authenticator app a password alone does not do, unless the session
   * has shown a second factor.
   * @throws AppError 401001 a wrong password or code, which counts as a failed login; 403001 without proof
   */
  async assertOwner(caller: Caller, { password, ...codes }: Proof): Promise<void> {
    const { userId, sessionId } = signedIn(caller);
    const user = await this.db.source.manager.findOneByOrFail(User, { id: userId });
    if (codes.totpCode || codes.recoveryCode) return this.auth.checkCode(user, codes, caller);
    const sql = 'SELECT amr FROM sessions WHERE id = ?';
    const session = await this.db.row<{ amr: string | null }>(sql, [sessionId]);
    if (user.totp_enabled && !showedSecondFactor(amrOf(session?.amr ?? null)))
      throw errors.forbidden('Sign in again with your second factor, or send totpCode or recoveryCode', {
        required: '2fa',
      });
    // who has no password cannot be asked for it
    if (password !== undefined && user.password_hash) await this.auth.confirm(caller, password, 'password');
    else await this.sessions.assertFresh(caller, 'Sign in again first, or send password, totpCode or recoveryCode');
  }
}
