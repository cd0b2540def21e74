import { Injectable } from '@nestjs/common';
import { type Caller, signedIn } from '../../access/access.js';
import { AuditService } from '../../audit/audit.service.js';
import { networkOf } from '../../platform/common/cidr.js';
import { errors } from '../../platform/common/errors.js';
import { Logger } from '../../platform/common/logger.js';
import { Db } from '../../platform/database/db.js';
import { SettingsService } from '../../settings/settings.service.js';
import { isToBeRenewed, Passwords } from '../../users/passwords.js';
import type { UserView } from '../../users/user.dto.js';
import type { User } from '../../users/user.entity.js';
import { userView } from '../../users/user-view.js';
import { UsersRepository } from '../../users/users.repository.js';
import { type Attempt, Attempts } from '../password/attempts.service.js';
import { CodeCheck, codeKind } from '../second-factor/code-check.service.js';
import { assertNetwork } from '../sessions/network.js';
import type { LoginResult } from '../sessions/sessions.dto.js';
import { SessionsService } from '../sessions/sessions.service.js';
import { SignIn } from '../sessions/sign-in.service.js';
import { SigningKey } from '../sessions/signing-key.js';
import type { LoginInput, TokenResult } from './login.dto.js';

/** Sign-in with a password, and the routes of the current session. */
@Injectable()
export class LoginService {
  constructor(
    private readonly db: Db,
    private readonly attempts: Attempts,
    private readonly codes: CodeCheck,
    private readonly signIn: SignIn,
    private readonly users: UsersRepository,
    private readonly sessions: SessionsService,
    private readonly key: SigningKey,
    private readonly settings: SettingsService,
    private readonly audit: AuditService,
    private readonly passwords: Passwords,
    private readonly logger: Logger,
  ) {}

  /**
   * Password login.
   * @throws AppError 401 wrong name, password or code, 423 locked, 429 too many, code -2 when a code is missing
   */
  async login(input: LoginInput, caller: Caller): Promise<LoginResult> {
    const security = await this.settings.security();
    assertNetwork(security(null), caller.ip);
    const username = input.username.trim().toLowerCase();
    const friend = await this.sessions.knowsNetwork(username, networkOf(caller.ip));
    const hashing = { friend, user: friend ? username : networkOf(caller.ip) };
    this.passwords.assertRoom(hashing);
    const check = async (attempt: Attempt) => {
      const found = await this.users.find({ username_key: username });
      const good = await this.passwords.matches(
        input.password,
        (found?.status === 1 && found.password_hash) || null,
        hashing,
      );
      if (!found || !good) throw errors.unauthenticated('wrong_credentials');
      if (found.totp_enabled) await this.codes.within(attempt, found, input);
      return found;
    };
    const user = await this.attempts.guarded(username, caller, check, security);
    if (isToBeRenewed(user.password_hash, input.password)) await this.hashAnew(user, input.password);
    return this.signIn.signIn(user, caller, user.totp_enabled ? ['password', codeKind(input)] : ['password']);
  }

  /** The next JWT of this session, while it lives. */
  async refresh(caller: Caller): Promise<TokenResult> {
    const { sessionId, userId, role } = signedIn(caller);
    const { session } = await this.settings.securityFor(role);
    const row = await this.sessions.named(sessionId);
    if (!row) throw errors.unauthenticated('session_invalid');
    return { token: await this.key.sign(userId, row, session.token_minutes) };
  }

  /** The signed-in user as stored now. @throws AppError 401001 */
  async stored(caller: Caller): Promise<User> {
    const user = await this.users.shown(signedIn(caller).userId);
    if (!user) throw errors.unauthenticated('session_invalid');
    return user;
  }

  /** The same as users are shown, with the role of this session. */
  async me(caller: Caller): Promise<UserView> {
    return { ...userView(await this.stored(caller)), role: signedIn(caller).role };
  }

  /** Ends the session of this request; its JWT is invalid from then on, on every replica. */
  async logout(caller: Caller): Promise<void> {
    const { sessionId, userId, username } = signedIn(caller);
    await this.db.transaction(async (manager) => {
      await this.sessions.end(manager, userId, sessionId as number);
      await this.audit.write(manager, caller, {
        action: 'auth.logout',
        target: { type: 'user', id: userId, name: username },
      });
    });
  }

  /** Stores a hash of the current format; when too many hashes are waiting, at the next login. */
  private async hashAnew(user: User, password: string): Promise<void> {
    try {
      const fresh = await this.passwords.hash(password, { friend: true, user: user.id });
      if (await this.users.rehash(user, fresh)) user.password_hash = fresh;
    } catch (error) {
      this.logger.info({ user: user.id, err: error }, 'a password could not be hashed anew');
    }
  }
}
