import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { AuditService } from '../audit/audit.service.js';
import type { Caller } from '../common/access.js';
import { networkOf } from '../common/cidr.js';
import { errors } from '../common/errors.js';
import { LimitsService } from '../security/limits.service.js';
import { IdentitiesService } from '../security/oauth/identities.service.js';
import type { OauthCallback } from '../security/oauth/oauth.dto.js';
import { type Binder, OauthService, type Returned } from '../security/oauth/oauth.service.js';
import { SignInRefused } from '../security/oauth/sign-in-refused.js';
import { SettingsService } from '../settings/settings.service.js';
import { SessionsService } from '../users/sessions.service.js';
import { User } from '../users/user.entity.js';
import { userPrincipal } from '../users/user-principal.js';
import { AuthService } from './auth.service.js';
import type { OauthResult } from './oauth-login.dto.js';
import { assertNetwork } from './strategies.js';

/** What becomes of a flow at a provider: a session, or a binding. */
@Injectable()
export class OauthLogin {
  constructor(
    @InjectRepository(User) private readonly users: Repository<User>,
    private readonly auth: AuthService,
    private readonly oauth: OauthService,
    private readonly identities: IdentitiesService,
    private readonly sessions: SessionsService,
    private readonly limits: LimitsService,
    private readonly settings: SettingsService,
    private readonly audit: AuditService,
  ) {}

  /** @throws AppError 400001, 401001, 403001, 409001, 429001, ProviderError */
  async callback(input: OauthCallback, browser: string | null, caller: Caller): Promise<OauthResult> {
    if (!input.code && !input.error) throw errors.field('code', 'is needed, or error');
    assertNetwork(await this.settings.security(), caller.ip);
    const throttled = await this.limits.blockedFor({ kind: 'failures', network: networkOf(caller.ip) });
    if (throttled) throw errors.tooMany('Too many failed logins from your network; try again later', throttled);
    let returned: Returned | undefined;
    try {
      returned = await this.oauth.finish(input, browser);
      return returned.bind ? await this.bind(returned, returned.bind, caller) : await this.signIn(returned, caller);
    } catch (error) {
      if (!(error instanceof SignInRefused)) throw error;
      if (returned?.bind) throw errors.unauthenticated(error.message);
      return this.auth.refuse(caller, returned?.provider.key ?? '', error.why, error.message);
    }
  }

  private async signIn({ provider, identify }: Returned, caller: Caller): Promise<OauthResult> {
    const person = await identify();
    let userId = await this.identities.owner(person);
    if (!userId && !provider.auto_create) {
      const words = 'No account is bound to this sign-in; sign in another way and bind it first';
      throw new SignInRefused(`${person.name} is bound to no account`, words);
    }
    userId ??= await this.identities.adopt(provider.key, person, caller);
    const user = await this.users.findOneByOrFail({ id: userId });
    if (user.role > (await this.settings.trustIn('oauth'))) {
      const words =
        'An administrator below your role changed this way to sign in; sign in another way and save its settings once more';
      throw new SignInRefused(`the settings were changed by a role below that of ${user.username}`, words);
    }
    const result = await this.auth.signIn(user, caller, 'oauth', false);
    await this.identities.used(person);
    return result;
  }

  private async bind({ provider, identify }: Returned, binder: Binder, caller: Caller): Promise<OauthResult> {
    try {
      await this.assertStill(binder, caller);
      const person = await identify();
      // the provider took its time: a session that was ended meanwhile must not leave a way in behind
      await this.assertStill(binder, caller);
      await this.identities.bind(provider.key, person, caller);
      return { bound: true };
    } catch (error) {
      const why = error instanceof SignInRefused ? error.why : (error as Error).message;
      const target = { type: 'user', id: binder.userId, name: caller.principal?.username ?? null };
      const entry = { action: 'oauth.bind', target, after: { provider: provider.key } };
      await this.audit.append(caller, { ...entry, result: 'failed', error: why });
      throw error;
    }
  }

  /** That who began is signed in still; the request is theirs from then on. @throws SignInRefused */
  private async assertStill({ userId, sessionId }: Binder, caller: Caller): Promise<void> {
    const { session } = await this.settings.security();
    const user = await this.users.findOneBy({ id: userId, status: 1 });
    const live = user ? await this.sessions.list(userId, session) : [];
    if (!user || !live.some(({ id }) => Number(id) === sessionId))
      throw new SignInRefused('the session that began has ended', 'Your session has ended; sign in and bind again');
    caller.principal = userPrincipal(user, sessionId);
  }
}
