import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Caller } from '../../access/access.js';
import { AuditService } from '../../audit/audit.service.js';
import { Mailer } from '../../notifications/mailer.service.js';
import { now } from '../../platform/common/clock.js';
import { errors } from '../../platform/common/errors.js';
import { Db } from '../../platform/database/db.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { SettingsService } from '../../settings/settings.service.js';
import type { User } from '../../users/user.entity.js';
import { userPrincipal } from '../../users/user-principal.js';
import { userView } from '../../users/user-view.js';
import { UsersRepository } from '../../users/users.repository.js';
import { assertNetwork } from './network.js';
import { Refusals } from './refusals.service.js';
import type { LoginResult } from './sessions.dto.js';
import { SessionsRepository } from './sessions.repository.js';
import { SessionsService, type Shown } from './sessions.service.js';
import { SigningKey } from './signing-key.js';

/** The last step of every kind of login: starts the session. */
@Injectable()
export class SignIn {
  constructor(
    private readonly db: Db,
    private readonly key: SigningKey,
    private readonly users: UsersRepository,
    private readonly sessions: SessionsService,
    private readonly stored: SessionsRepository,
    private readonly refusals: Refusals,
    private readonly settings: SettingsService,
    private readonly mailer: Mailer,
    private readonly audit: AuditService,
    private readonly metrics: Metrics,
  ) {}

  /**
   * Session row, audit entry and JWT.
   * @param amr the proofs, that of the sign-in method first
   * @throws AppError 401001 a disabled user, 403001
   */
  async signIn(user: User, caller: Caller, amr: [Shown, ...Shown[]]): Promise<LoginResult> {
    const security = await this.settings.securityFor(user.role);
    assertNetwork(security, caller.ip);
    if (user.status !== 1)
      return this.refusals.refuse(caller, user.username, 'disabled', errors.unauthenticated('sign_in_refused'));
    if (!(await this.key.get())) throw errors.notReady('not_initialised');
    const mails = Boolean(user.email) && (await this.mailer.enabled());
    const { session, at } = await this.db.transaction(async (manager) => {
      // locks the user: a concurrent revocation comes before, or after, and ends this session
      const at = now();
      if (!(await this.users.storeLogin(user, at, manager))) throw errors.unauthenticated('account_changed');
      const known = !mails || (await this.knowsDevice(user, caller.userAgent, manager));
      const created = await this.sessions.create(manager, user.id, caller, amr, security.session);
      caller.principal = userPrincipal(user, created.id);
      const { ip, userAgent } = caller;
      const values = { username: user.username, time: created.created_at, ip, userAgent };
      if (!known) await this.mailer.queue(manager, user.email as string, 'new-device', user, values);
      await this.audit.write(manager, caller, {
        action: 'auth.login',
        target: { type: 'user', id: user.id, name: user.username },
        after: { method: amr[0], amr },
      });
      return { session: created, at };
    });
    this.metrics.logins.inc({ result: 'ok' });
    const token = await this.key.sign(user.id, session, security.session.token_minutes);
    return { token, user: userView({ ...user, last_login_at: at }) };
  }

  /** Whether a session came from a browser of this kind; versions are ignored, they change too often. */
  private async knowsDevice(user: User, userAgent: string, manager: EntityManager): Promise<boolean> {
    if (!user.last_login_at) return true;
    const kind = (text: string) => text.replace(/[\d._]+/g, '');
    const known = await this.stored.userAgents(user.id, manager);
    return known.some((text) => kind(text) === kind(userAgent));
  }
}
