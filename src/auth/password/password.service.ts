import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { type Caller, signedIn } from '../../access/access.js';
import { type Actor, AuditService } from '../../audit/audit.service.js';
import { Mailer } from '../../notifications/mailer.service.js';
import { errors } from '../../platform/common/errors.js';
import { Logger } from '../../platform/common/logger.js';
import { Db } from '../../platform/database/db.js';
import { type LimitRule, LimitsService } from '../../platform/limits/limits.service.js';
import { SettingsService } from '../../settings/settings.service.js';
import { hashingFor, Passwords } from '../../users/passwords.js';
import type { User } from '../../users/user.entity.js';
import { UsersRepository } from '../../users/users.repository.js';
import { UsersService } from '../../users/users.service.js';
import { ChallengesService } from '../sessions/challenges.service.js';
import { Refusals } from '../sessions/refusals.service.js';
import { SessionsService } from '../sessions/sessions.service.js';
import { Attempts } from './attempts.service.js';
import type { PasswordInput, ResetConfirmInput, ResetInput } from './password.dto.js';

const RESET_MINUTES = 30;
/** reset mails to one account */
const RESET_MAILS: LimitRule = { max: 5, windowS: 3600, blockS: 3600, maxBlockS: 3600 };

/** How a password changes, for the audit log. */
interface Change {
  action: 'auth.password' | 'auth.password_reset';
  actor: Actor;
  /** the session that is kept; left out: all end */
  keepSession?: number | null;
}

/** Passwords of existing users: confirmed, changed by their owner, or reset by a mailed link. */
@Injectable()
export class PasswordService {
  constructor(
    private readonly db: Db,
    private readonly attempts: Attempts,
    private readonly refusals: Refusals,
    private readonly sessions: SessionsService,
    private readonly users: UsersRepository,
    private readonly usersService: UsersService,
    private readonly challenges: ChallengesService,
    private readonly limits: LimitsService,
    private readonly settings: SettingsService,
    private readonly mailer: Mailer,
    private readonly audit: AuditService,
    private readonly passwords: Passwords,
    private readonly logger: Logger,
  ) {}

  /**
   * Checks the password of a signed-in user, for what must not be done with a stolen session; failures count as failed
   * logins.
   * @param more further checks, inside the same attempt
   * @throws AppError 401001 wrong, naming `path`; 423, 429
   */
  async confirm(
    caller: Caller,
    password: string,
    path: string,
    more: (user: User) => Promise<void> = async () => undefined,
  ): Promise<User> {
    const user = await this.users.get(signedIn(caller).userId);
    return this.attempts.guarded(user.username_key, caller, async () => {
      // users who sign in at a provider only have none
      if (user.password_hash && !(await this.passwords.matches(password, user.password_hash, hashingFor(caller))))
        throw errors.wrong(path, 'wrong_password');
      await more(user);
      return user;
    });
  }

  /** Stores a hashed password, ends the sessions (but one), and writes the audit entry. */
  async set(
    manager: EntityManager,
    { id, username }: Pick<User, 'id' | 'username'>,
    password_hash: string,
    { action, actor, keepSession = null }: Change,
  ): Promise<void> {
    await this.users.update(id, { password_hash }, manager);
    const sessions_ended = await this.sessions.endAll(manager, id, keepSession);
    const target = { type: 'user', id, name: username };
    await this.audit.write(manager, actor, { action, target, after: { sessions_ended } });
  }

  /** @throws AppError 400001 weak, 401001 wrong old one, 403001 a first one in a session that is not fresh */
  async change({ old_password, new_password }: PasswordInput, caller: Caller): Promise<void> {
    const user = await this.confirm(caller, old_password, 'old_password');
    // a first password gives permanent access, which an open old session must not do
    if (!user.password_hash) await this.sessions.assertFresh(caller, 'fresh_for_password');
    await this.usersService.assertGoodPassword(user, new_password, 'new_password');
    const hash = await this.passwords.hash(new_password, hashingFor(caller));
    const change: Change = { action: 'auth.password', actor: caller, keepSession: signedIn(caller).sessionId };
    await this.db.transaction((manager) => this.set(manager, user, hash, change));
  }

  /**
   * Answers at once and works afterwards: neither the answer nor its time reveals whether the account exists.
   * @throws AppError 400001
   */
  async requestReset(input: ResetInput, caller: Caller): Promise<void> {
    if (Boolean(input.username) === Boolean(input.email)) throw errors.field('username', 'send username or email');
    this.mailReset(input).catch((error) =>
      this.logger.error({ requestId: caller.requestId, err: error }, 'a reset mail could not be written'),
    );
  }

  /** @throws AppError 400001 weak, 401001 */
  async confirmReset({ token, password }: ResetConfirmInput, caller: Caller): Promise<void> {
    const found = await this.challenges.look('reset', token);
    const user = found?.userId ? await this.users.find({ id: found.userId, status: 1 }) : null;
    if (!user)
      return this.refusals.refuse(caller, '', 'wrong reset token', errors.unauthenticated('reset_token_wrong'));
    await this.usersService.assertGoodPassword(user, password, 'password');
    const hash = await this.passwords.hash(password, { friend: true, user: user.id });
    await this.db.transaction(async (manager) => {
      if (!(await this.challenges.take('reset', token, manager))) throw errors.unauthenticated('reset_token_used');
      await this.challenges.drop('reset', user.id, manager);
      await this.limits.unlock(user.username_key, manager);
      await this.set(manager, user, hash, { action: 'auth.password_reset', actor: caller });
    });
  }

  private async mailReset({ username, email }: ResetInput): Promise<void> {
    if (!(await this.mailer.enabled('reset'))) return;
    const by = username
      ? { username_key: username.trim().toLowerCase() }
      : { email_key: email?.trim().toLowerCase() ?? '' };
    const user = await this.users.find({ ...by, status: 1 });
    if (!user?.email) return;
    const counted = { kind: 'reset', network: 'mail', username: `#${user.id}` };
    if (await this.limits.hit(counted, RESET_MAILS)) return;
    const base = await this.settings.publicUrl();
    await this.db.transaction(async (manager) => {
      const token = await this.challenges.open('reset', RESET_MINUTES, {}, { userId: user.id, manager });
      // after the #: browsers do not send that part
      const url = `${base}/reset#token=${token}`;
      const values = { username: user.username, url, minutes: RESET_MINUTES };
      await this.mailer.queue(manager, user.email as string, 'reset', user, values);
    });
  }
}
