import { Injectable } from '@nestjs/common';
import { JwtService } from '@nestjs/jwt';
import { InjectRepository } from '@nestjs/typeorm';
import { LessThan, type Repository } from 'typeorm';
import { AuditService } from '../audit/audit.service.js';
import { type Caller, signedIn } from '../common/access.js';
import { networkOf } from '../common/cidr.js';
import { now } from '../common/clock.js';
import { errors } from '../common/errors.js';
import { randomHex } from '../common/hash.js';
import { Db } from '../database/db.js';
import { passwordMatches } from '../users/passwords.js';
import { SigningKey } from '../users/signing-key.js';
import { User } from '../users/user.entity.js';
import type { LoginInput, LoginResult, UserView } from './auth.dto.js';
import { type LimitRule, LimitsService } from './limits.service.js';
import { Session } from './session.entity.js';

const JWT_HOURS = 12;
const SESSION_DAYS = 30;
const QUARTER = 15 * 60;

/** attempts on one name from one network: others' failures never lock the owner out */
const NAME_IN_NETWORK: LimitRule = { max: 5, windowS: QUARTER, blockS: QUARTER, maxBlockS: 86_400 };
/** failures of one network on any names */
const NETWORK_FAILURES: LimitRule = { max: 100, windowS: QUARTER, blockS: QUARTER, maxBlockS: QUARTER };
/** logins of one network */
const NETWORK_LOGINS: LimitRule = { max: 20, windowS: 60, blockS: 60, maxBlockS: 60 };

/** The user object of login answers and `GET /api/auth/me`. */
export const userView = (user: User): UserView => ({
  id: user.id,
  username: user.username,
  nickname: user.nickname,
  email: user.email,
  role: user.role,
  status: user.status,
  totp_enabled: user.totp_enabled,
  language: user.language,
  created_at: user.created_at,
  last_login_at: user.last_login_at,
});

@Injectable()
export class AuthService {
  constructor(
    @InjectRepository(User) private readonly users: Repository<User>,
    private readonly db: Db,
    private readonly jwt: JwtService,
    private readonly key: SigningKey,
    private readonly limits: LimitsService,
    private readonly audit: AuditService,
  ) {}

  /** Password login. @throws AppError 401 wrong name or password (one and the same), 423 locked, 429 too many */
  async login(input: LoginInput, caller: Caller): Promise<LoginResult> {
    const network = networkOf(caller.ip);
    const name = input.username.trim().toLowerCase();
    const failures = `failures|${network}`;
    const throttled = Math.max(
      await this.limits.blockedFor(failures),
      await this.limits.hit(`logins|${network}`, NETWORK_LOGINS, `logins from ${network}`),
    );
    if (throttled) throw errors.tooMany('Too many logins from your network; try again later', throttled);

    // counted before the password is looked at, so that parallel guesses do not all pass the check
    const attempts = `name|${name}|${network}`;
    const locked = await this.limits.hit(attempts, NAME_IN_NETWORK, `${name} from ${network}`);
    if (locked) {
      await this.failed(caller, name, 'locked');
      throw errors.locked('The account is locked after too many failed logins; try again later', locked);
    }
    const user = await this.users.findOneBy({ username_key: name });
    const good = await passwordMatches(input.password, user?.status === 1 ? user.password_hash : null);
    if (!user || !good) {
      await this.limits.hit(failures, NETWORK_FAILURES, `failed logins from ${network}`);
      await this.failed(caller, name, 'wrong name or password');
      throw errors.unauthenticated('Username or password is wrong');
    }
    await this.limits.clear(attempts);
    return this.open(user, caller, 'password');
  }

  /** The signed-in user as stored now. */
  async me(caller: Caller): Promise<UserView> {
    const { userId, role } = signedIn(caller);
    return { ...userView(await this.users.findOneByOrFail({ id: userId })), role };
  }

  /** Ends the session of this request; its JWT is worth nothing from then on, on every replica. */
  async logout(caller: Caller): Promise<void> {
    const { sessionId, userId, username } = signedIn(caller);
    await this.db.transaction(async (manager) => {
      await manager.delete(Session, { id: sessionId ?? '' });
      await this.audit.write(manager, caller, {
        action: 'auth.logout',
        target: { type: 'user', id: userId, name: username },
      });
    });
  }

  /** Session row, audit entry and JWT: the one way in which every kind of login ends. */
  private async open(user: User, caller: Caller, method: string): Promise<LoginResult> {
    const session = {
      id: randomHex(16),
      user_id: user.id,
      created_at: now(),
      last_active_at: now(),
      expires_at: now(SESSION_DAYS * 86_400_000),
      ip: caller.ip,
      user_agent: caller.userAgent,
      method,
    };
    caller.principal = {
      kind: 'user',
      userId: user.id,
      username: user.username,
      role: user.role,
      sessionId: session.id,
      token: null,
    };
    user.last_login_at = session.created_at;
    const secret = await this.key.get();
    if (!secret) throw errors.notReady('Not initialised yet');
    const token = await this.jwt.signAsync(
      { sid: session.id },
      { subject: String(user.id), algorithm: 'HS256', expiresIn: JWT_HOURS * 3600, secret: secret as never },
    );
    await this.db.transaction(async (manager) => {
      await manager.delete(Session, { user_id: user.id, expires_at: LessThan(now()) });
      await manager.insert(Session, session);
      await manager.update(User, { id: user.id }, { last_login_at: session.created_at });
      await this.audit.write(manager, caller, {
        action: 'auth.login',
        target: { type: 'user', id: user.id, name: user.username },
        after: { method },
      });
    });
    return { token, user: userView(user) };
  }

  private failed(caller: Caller, name: string, error: string): Promise<void> {
    return this.audit.append(caller, {
      action: 'auth.login_failed',
      target: { type: 'user', id: null, name: name.slice(0, 64) },
      result: 'failed',
      error,
    });
  }
}
