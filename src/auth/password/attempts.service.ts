import { Injectable } from '@nestjs/common';
import { type Caller, Role } from '../../access/access.js';
import { AuditService } from '../../audit/audit.service.js';
import { Mailer } from '../../notifications/mailer.service.js';
import { Notices } from '../../notifications/notices.service.js';
import { networkOf } from '../../platform/common/cidr.js';
import { now } from '../../platform/common/clock.js';
import { errors } from '../../platform/common/errors.js';
import { Logger } from '../../platform/common/logger.js';
import { type Counted, type LimitRule, LimitsService } from '../../platform/limits/limits.service.js';
import type { LoginLimit, SecuritySettings } from '../../settings/settings.dto.js';
import { SettingsService } from '../../settings/settings.service.js';
import { UsersRepository } from '../../users/users.repository.js';
import { Refusals } from '../sessions/refusals.service.js';

/** The limit of attempts on one name from one network: failures from elsewhere never lock out the owner. */
const nameRule = (limit: LoginLimit): LimitRule => ({
  max: limit.max_failures,
  windowS: limit.window_minutes * 60,
  blockS: limit.lock_minutes * 60,
  maxBlockS: limit.max_lock_minutes * 60,
});

/** An attempt to guess a secret of a name, from a network. */
export type Attempt = Counted & { username: string };

/** Limits attempts on passwords and codes: too many failures lock the name in the network. */
@Injectable()
export class Attempts {
  constructor(
    private readonly limits: LimitsService,
    private readonly refusals: Refusals,
    private readonly users: UsersRepository,
    private readonly settings: SettingsService,
    private readonly mailer: Mailer,
    private readonly notices: Notices,
    private readonly audit: AuditService,
    private readonly logger: Logger,
  ) {}

  /**
   * Runs a check of a secret inside the limits. The attempt is counted before, so that parallel guesses do not all
   * pass; a 401 of the check is a failure, and a success forgets the failures before it.
   * @param security the settings, by a caller that has just read them
   * @throws AppError 423 locked, 429 too many failures from the network
   */
  async guarded<T>(
    username: string,
    caller: Caller,
    check: (attempt: Attempt) => Promise<T>,
    security?: (role: number) => SecuritySettings,
  ): Promise<T> {
    const rule = nameRule(await this.limitOf(username, security));
    await this.refusals.assertOpen(caller);
    const attempt = { kind: 'login', network: networkOf(caller.ip), username };
    const locked = await this.limits.hit(attempt, rule);
    if (locked) {
      await this.refusals.log(caller, username, 'locked');
      throw errors.locked('account_locked', locked);
    }
    try {
      const result = await check(attempt);
      await this.limits.clear(attempt);
      return result;
    } catch (error) {
      const { status, message } = error as { status?: number; message: string };
      if (status !== 401) {
        // not a guess: a code is missing, too many are waiting, the database is down
        await this.limits.forgive(attempt);
        throw error;
      }
      await this.refusals.count(caller);
      const seconds = await this.limits.failed(attempt, rule);
      // for a signed-in user the failure of the route itself is logged
      if (!caller.principal) await this.refusals.log(caller, username, message);
      if (seconds) await this.beganLock(caller, attempt, seconds);
      throw error;
    }
  }

  /** The limit of a name: limits set by an administrator do not lock super administrators. */
  private async limitOf(username: string, security?: (role: number) => SecuritySettings): Promise<LoginLimit> {
    // the name may be unknown
    const role = (await this.users.roleOf(username)) ?? Role.User;
    return (security ?? (await this.settings.security()))(role).login_limit;
  }

  /** Logs the lock and notifies the owner. That is not awaited: known names would take longer than unknown ones. */
  private async beganLock(caller: Caller, { username, network }: Attempt, seconds: number): Promise<void> {
    const target = { type: 'user', id: null, name: username.slice(0, 64) };
    await this.audit.append(caller, { action: 'auth.lock', target, after: { network, seconds } });
    const tell = async () => {
      const user = await this.users.find({ username_key: username, status: 1 });
      // an unknown name is not reported: it may be a password in the wrong field
      if (!user) return;
      const words = `Signing in as ${user.username} is locked in the network ${network} after too many failures`;
      await this.notices.tell(undefined, {
        event: 'login.locked',
        text: `${words}, for ${Math.round(seconds / 60)} minutes`,
        details: { username: user.username, network, seconds },
      });
      if (!user.email || !(await this.mailer.enabled())) return;
      const values = { username: user.username, time: now(), ip: caller.ip, minutes: Math.round(seconds / 60) };
      await this.mailer.queue(undefined, user.email, 'locked', user, values);
    };
    tell().catch((error) => this.logger.error({ err: error }, 'nobody could be told of a lock'));
  }
}
