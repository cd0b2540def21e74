import { Injectable } from '@nestjs/common';
import { JwtService } from '@nestjs/jwt';
import { InjectRepository } from '@nestjs/typeorm';
import type { EntityManager, Repository } from 'typeorm';
import { AuditService } from '../../audit/audit.service.js';
import { StrangersLog } from '../../audit/strangers-log.service.js';
import { type Caller, Role, signedIn } from '../../common/access.js';
import { networkOf } from '../../common/cidr.js';
import { now } from '../../common/clock.js';
import { errors } from '../../common/errors.js';
import { log } from '../../common/logger.js';
import { Db } from '../../database/db.js';
import { type Counted, type LimitRule, LimitsService } from '../../limits/limits.service.js';
import { Mailer } from '../../notifications/mailer.service.js';
import type { LoginLimit } from '../../settings/settings.dto.js';
import { SettingsService } from '../../settings/settings.service.js';
import { assertRoom, hashPassword, isToBeRenewed, passwordMatches } from '../../users/passwords.js';
import type { UserView } from '../../users/user.dto.js';
import { User } from '../../users/user.entity.js';
import { userPrincipal } from '../../users/user-principal.js';
import { USER_COLUMNS, userView } from '../../users/user-view.js';
import { assertNetwork } from '../guard/strategies.js';
import type { Codes } from '../second-factor/second-factor.dto.js';
import { SecondFactorService } from '../second-factor/second-factor.service.js';
import type { LoginResult } from '../sessions/sessions.dto.js';
import { SessionsService, type Shown } from '../sessions/sessions.service.js';
import { SigningKey } from '../sessions/signing-key.js';
import type { LoginInput } from './login.dto.js';

/** Attempts on one name from one network: others' failures never lock the owner out. */
const nameRule = (limit: LoginLimit): LimitRule => ({
  max: limit.max_failures,
  windowS: limit.window_minutes * 60,
  blockS: limit.lock_minutes * 60,
  maxBlockS: limit.max_lock_minutes * 60,
});

/** Failures of one network on any names. They are counted when they have happened, so the one that fills the window blocks. */
const networkRule = ({ network_failures, window_minutes }: LoginLimit): LimitRule => ({
  max: network_failures - 1,
  windowS: window_minutes * 60,
  blockS: window_minutes * 60,
  maxBlockS: window_minutes * 60,
});

/** Which of the two is taken when both are sent. */
export const codeKind = ({ totpCode }: Codes): 'totp' | 'recovery' => (totpCode ? 'totp' : 'recovery');

/** Wrong second factors of one account from anywhere: they come from somebody who knows its password, so this locks out nobody without cause. */
const CODES_ANYWHERE: LimitRule = { max: 20, windowS: 3600, blockS: 3600, maxBlockS: 3600 };

@Injectable()
export class AuthService {
  constructor(
    @InjectRepository(User) private readonly users: Repository<User>,
    private readonly db: Db,
    private readonly jwt: JwtService,
    private readonly key: SigningKey,
    private readonly limits: LimitsService,
    private readonly sessions: SessionsService,
    private readonly secondFactor: SecondFactorService,
    private readonly settings: SettingsService,
    private readonly mailer: Mailer,
    private readonly audit: AuditService,
    private readonly strangers: StrangersLog,
  ) {}

  /**
   * Password login.
   * @throws AppError 401 wrong name, password or code, 423 locked, 429 too many, code -2 when a code is missing
   */
  async login(input: LoginInput, caller: Caller): Promise<LoginResult> {
    assertNetwork(await this.settings.securityFor(null), caller.ip);
    const username = input.username.trim().toLowerCase();
    const friend = await this.knowsNetwork(username, networkOf(caller.ip));
    assertRoom(friend);
    const user = await this.guarded(username, caller, async (attempts) => {
      const found = await this.users.findOneBy({ username_key: username });
      const good = await passwordMatches(input.password, (found?.status === 1 && found.password_hash) || null, friend);
      if (!found || !good) throw errors.unauthenticated('Username or password is wrong');
      if (found.totp_enabled) await this.assertCode(found, input, attempts);
      return found;
    });
    if (isToBeRenewed(user.password_hash, input.password)) await this.hashAnew(user, input.password);
    return this.signIn(user, caller, user.totp_enabled ? ['password', codeKind(input)] : ['password']);
  }

  /**
   * Checks the password of somebody who is signed in, for what must not be done with a stolen session; failures count as those of logins do.
   * @param more what else must be right, inside the same attempt
   * @throws AppError 401001 wrong, naming `path`; 423, 429
   */
  async confirm(
    caller: Caller,
    password: string,
    path: string,
    more: (user: User) => Promise<void> = async () => undefined,
  ): Promise<User> {
    const user = await this.users.findOneByOrFail({ id: signedIn(caller).userId });
    return this.guarded(user.username_key, caller, async () => {
      // who signs in at a provider only has none
      if (user.password_hash && !(await passwordMatches(password, user.password_hash, true)))
        throw errors.wrong(path, 'The password is wrong');
      await more(user);
      return user;
    });
  }

  /** Checks a code of the second factor; failures count as those of logins do. @throws AppError 401001 wrong or used, 423, 429 */
  async checkCode(user: User, codes: Codes, caller: Caller): Promise<void> {
    await this.guarded(user.username_key, caller, (attempts) => this.assertCode(user, codes, attempts));
  }

  /**
   * Session row, audit entry and JWT: the one way in which every kind of login ends.
   * @param amr what was shown, the way in first
   * @throws AppError 401001 a disabled user, 403001
   */
  async signIn(user: User, caller: Caller, amr: [Shown, ...Shown[]]): Promise<LoginResult> {
    const security = await this.settings.securityFor(user.role);
    assertNetwork(security, caller.ip);
    if (user.status !== 1) return this.refuse(caller, user.username, 'disabled', 'The sign-in was refused');
    const secret = await this.key.get();
    if (!secret) throw errors.notReady('Not initialised yet');
    const mails = Boolean(user.email) && (await this.mailer.enabled());
    const { session, at } = await this.db.transaction(async (manager) => {
      // locks: whoever changes the password, disables the user or revokes all at this moment comes before, and is seen here, or after, and ends this session
      const still = 'UPDATE users SET last_login_at = ? WHERE id = ? AND status = 1 AND password_hash = ?';
      const at = now();
      if (!(await this.db.run(still, [at, user.id, user.password_hash], manager)))
        throw errors.unauthenticated('The account was changed at this moment; sign in again');
      const known = !mails || (await this.knowsDevice(user, caller.userAgent, manager));
      const created = await this.sessions.create(manager, user.id, caller, amr, security.session);
      caller.principal = userPrincipal(user, created.id);
      const { ip, userAgent } = caller;
      const values = { username: user.username, time: created.created_at, ip, userAgent };
      if (!known) await this.mailer.queue(manager, user.email as string, 'new-device', user.language, values);
      await this.audit.write(manager, caller, {
        action: 'auth.login',
        target: { type: 'user', id: user.id, name: user.username },
        after: { method: amr[0], amr },
      });
      return { session: created, at };
    });
    const token = await this.sign(user.id, session.sid, session.expires_at, security.session.token_minutes);
    return { token, user: userView({ ...user, last_login_at: at }) };
  }

  /** A failed login of any kind: counted for the network and logged. @throws AppError 401001 */
  async refuse(caller: Caller, name: string, why: string, message: string): Promise<never> {
    const { login_limit } = await this.settings.securityFor(null);
    const network = networkOf(caller.ip);
    await this.limits.hit({ kind: 'failures', network }, networkRule(login_limit));
    await this.logged(caller, name, why);
    throw errors.unauthenticated(message);
  }

  /** The next JWT of this session, while it lives. */
  async refresh(caller: Caller): Promise<{ token: string }> {
    const { sessionId, userId, role } = signedIn(caller);
    const { session } = await this.settings.securityFor(role);
    const row = await this.db.row<{ sid: string; expires_at: string }>(
      'SELECT sid, expires_at FROM sessions WHERE id = ?',
      [sessionId],
    );
    if (!row) throw errors.unauthenticated('Invalid token');
    return { token: await this.sign(userId, row.sid, row.expires_at, session.token_minutes) };
  }

  /** The signed-in user as stored now. */
  async me(caller: Caller): Promise<UserView> {
    const { userId, role } = signedIn(caller);
    // asked by every console all the time: a statement that stays prepared, not one that TypeORM writes anew
    const row = await this.db.row<User>(`SELECT ${USER_COLUMNS} FROM users WHERE id = ?`, [userId]);
    if (!row) throw errors.unauthenticated('Invalid token');
    return { ...userView(row), role };
  }

  /** Ends the session of this request; its JWT is worth nothing from then on, on every replica. */
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

  /** Turns the second factor off, with the password and a code. @throws AppError 401001, 409001 */
  async disableSecondFactor(password: string, code: string, caller: Caller): Promise<void> {
    const user = await this.confirm(caller, password, 'password', async ({ id, totp_enabled }) => {
      if (!totp_enabled) throw errors.conflict('The second factor is not on');
      const right = (await this.secondFactor.useCode(id, code)) || (await this.secondFactor.useRecoveryCode(id, code));
      if (!right) throw errors.wrong('code', 'The code is wrong or was used before');
    });
    await this.db.transaction(async (manager) => {
      await this.secondFactor.disable(manager, user.id);
      const target = { type: 'user', id: user.id, name: user.username };
      await this.audit.write(manager, caller, { action: 'auth.2fa_disable', target });
    });
  }

  /**
   * Runs a check of a secret inside the limits. The attempt is counted before, so that parallel guesses do not all pass; a 401 of the check is a failure, and
   * a success forgets the failures before it.
   */
  private async guarded<T>(username: string, caller: Caller, check: (attempts: Counted) => Promise<T>): Promise<T> {
    const network = networkOf(caller.ip);
    const shared = networkRule((await this.settings.securityFor(null)).login_limit);
    const own = nameRule(await this.limitOf(username));
    const throttled = await this.limits.blockedFor({ kind: 'failures', network });
    if (throttled) throw errors.tooMany('Too many failed logins from your network; try again later', throttled);
    const attempts = { kind: 'login', network, username };
    const locked = await this.limits.hit(attempts, own);
    if (locked) {
      await this.logged(caller, username, 'locked');
      throw errors.locked('The account is locked after too many failed logins; try again later', locked);
    }
    try {
      const result = await check(attempts);
      await this.limits.clear(attempts);
      return result;
    } catch (error) {
      const { status, message } = error as { status?: number; message: string };
      if (status !== 401) {
        await this.limits.forgive(attempts); // nothing was found out: a code is missing, too many are waiting, the database is down
        throw error;
      }
      await this.limits.hit({ kind: 'failures', network }, shared);
      const seconds = await this.limits.failed(attempts, own);
      // of those who are signed in the failure of the route itself is logged
      if (!caller.principal) await this.logged(caller, username, message);
      if (seconds) await this.beganLock(caller, username, network, seconds);
      throw error;
    }
  }

  /** The limit of a name: what an administrator set locks no super administrator. */
  private async limitOf(username: string): Promise<LoginLimit> {
    const row = await this.db.row<{ role: number }>('SELECT role FROM users WHERE username_key = ?', [username]);
    return (await this.settings.securityFor(row?.role ?? Role.User)).login_limit;
  }

  /** @throws AppError code -2 without a code, 401001 with a wrong or used one, 423 */
  private async assertCode(user: User, input: Codes, attempts: Counted): Promise<void> {
    const { totpCode, recoveryCode } = input;
    if (!totpCode && !recoveryCode) throw errors.secondFactor();
    const anywhere = { kind: 'codes', network: 'anywhere', username: attempts.username as string };
    const blocked = await this.limits.blockedFor(anywhere);
    if (blocked && !(await this.knowsNetwork(user.username_key, attempts.network)))
      throw errors.locked('Too many wrong codes; try again later, or from where you signed in before', blocked);
    const right = totpCode
      ? await this.secondFactor.useCode(user.id, totpCode)
      : await this.secondFactor.useRecoveryCode(user.id, recoveryCode as string);
    if (right) return;
    await this.limits.hit(anywhere, CODES_ANYWHERE);
    throw errors.wrong(totpCode ? 'totpCode' : 'recoveryCode', 'The code is wrong or was used before');
  }

  /** The same password under today's hash; when too many are waiting, at the next login. */
  private async hashAnew(user: User, password: string): Promise<void> {
    const { id, password_hash } = user;
    try {
      const fresh = await hashPassword(password, true);
      // one that was changed meanwhile stays
      const { affected } = await this.users.update({ id, password_hash }, { password_hash: fresh });
      if (affected) user.password_hash = fresh;
    } catch (error) {
      log().info({ user: id, err: error }, 'a password could not be hashed anew');
    }
  }

  private async sign(userId: number, sid: string, sessionEnds: string, minutes: number): Promise<string> {
    const secret = await this.key.get();
    const seconds = Math.min(minutes * 60, Math.floor((Date.parse(sessionEnds) - Date.now()) / 1000));
    return this.jwt.signAsync(
      { sid },
      { subject: String(userId), algorithm: 'HS256', expiresIn: Math.max(1, seconds), secret: secret as never },
    );
  }

  private logged(caller: Caller, name: string, error: string): Promise<void> {
    const target = { type: 'user', id: null, name: name.slice(0, 64) };
    return this.strangers.append(caller, { action: 'auth.login_failed', target, result: 'failed', error });
  }

  /** Logs the lock, and tells the owner: not waited for, or known names would take longer than unknown ones. */
  private async beganLock(caller: Caller, username: string, network: string, seconds: number): Promise<void> {
    const target = { type: 'user', id: null, name: username.slice(0, 64) };
    await this.audit.append(caller, { action: 'auth.lock', target, after: { network, seconds } });
    const tell = async () => {
      const user = await this.users.findOneBy({ username_key: username, status: 1 });
      if (!user?.email || !(await this.mailer.enabled())) return;
      const values = { username: user.username, time: now(), ip: caller.ip, minutes: Math.round(seconds / 60) };
      await this.mailer.queue(undefined, user.email, 'locked', user.language, values);
    };
    tell().catch((error) => log().error({ err: error }, 'a mail about a lock could not be written'));
  }

  /** Whether a live session came from a browser of this kind; versions change too often to count. */
  private async knowsDevice(user: User, userAgent: string, manager: EntityManager): Promise<boolean> {
    if (!user.last_login_at) return true;
    const kind = (text: string) => text.replace(/[\d._]+/g, '');
    const sql = 'SELECT DISTINCT user_agent FROM sessions WHERE user_id = ?';
    const rows = await this.db.rows<{ user_agent: string }>(sql, [user.id], manager);
    return rows.some((row) => kind(row.user_agent) === kind(userAgent));
  }

  /** Whether a live session of this name came from the network. */
  private async knowsNetwork(username: string, network: string): Promise<boolean> {
    const rows = await this.db.rows<{ ip: string }>(
      `SELECT DISTINCT s.ip FROM users u JOIN sessions s ON s.user_id = u.id WHERE u.username_key = ? AND s.expires_at > ?`,
      [username, now()],
    );
    return rows.some((row) => networkOf(row.ip) === network);
  }
}
