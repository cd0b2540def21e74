import { Injectable } from '@nestjs/common';
import type { Caller } from '../../access/access.js';
import { AuditService } from '../../audit/audit.service.js';
import { now } from '../../platform/common/clock.js';
import { errors } from '../../platform/common/errors.js';
import { SettingsService } from '../../settings/settings.service.js';
import { userPrincipal } from '../../users/user-principal.js';
import { UsersRepository } from '../../users/users.repository.js';
import { CodeCheck, codeKind } from '../second-factor/code-check.service.js';
import { FreshnessService } from '../second-factor/freshness.service.js';
import { ChallengesService } from '../sessions/challenges.service.js';
import { assertNetwork } from '../sessions/network.js';
import { Refusals } from '../sessions/refusals.service.js';
import type { LoginResult } from '../sessions/sessions.dto.js';
import { SessionsService } from '../sessions/sessions.service.js';
import { SignIn } from '../sessions/sign-in.service.js';
import { IdentitiesRepository, type Subject } from './identities.repository.js';
import { IdentitiesService } from './identities.service.js';
import type { OauthCallback } from './oauth.dto.js';
import { type Binder, OauthService, type Returned } from './oauth.service.js';
import type { OauthResult, SecondFactorInput } from './oauth-login.dto.js';
import { SignInRefused } from './sign-in-refused.js';

const CODE_MINUTES = 5;

/** The stored state of a sign-in that waits for a code. */
interface Asked {
  provider: string;
  person: Subject;
}

/** Ends a flow at a provider with a session, or a binding. */
@Injectable()
export class OauthLogin {
  constructor(
    private readonly users: UsersRepository,
    private readonly sessionStart: SignIn,
    private readonly refusals: Refusals,
    private readonly codes: CodeCheck,
    private readonly freshness: FreshnessService,
    private readonly oauth: OauthService,
    private readonly challenges: ChallengesService,
    private readonly identities: IdentitiesRepository,
    private readonly bindings: IdentitiesService,
    private readonly sessions: SessionsService,
    private readonly settings: SettingsService,
    private readonly audit: AuditService,
  ) {}

  /**
   * @throws AppError code -2 with a challenge when a code is missing, 400001, 401001, 403001, 409001, 429001,
   * OutboundError
   */
  async callback(input: OauthCallback, browser: string | null, caller: Caller): Promise<OauthResult> {
    if (!input.code && !input.error) throw errors.field('code', 'is needed, or error');
    assertNetwork(await this.settings.securityFor(null), caller.ip);
    await this.refusals.assertOpen(caller);
    let returned: Returned | undefined;
    try {
      returned = await this.oauth.finish(input, browser);
      return returned.bind ? await this.bind(returned, returned.bind, caller) : await this.signIn(returned, caller);
    } catch (error) {
      if (!(error instanceof SignInRefused)) throw error;
      if (returned?.bind) throw error.refusal;
      return this.refusals.refuse(caller, returned?.provider.key ?? '', error.why, error.refusal);
    }
  }

  private async signIn({ provider, identify }: Returned, caller: Caller): Promise<OauthResult> {
    const person = await identify();
    let userId = await this.identities.owner(person);
    if (!userId && !provider.auto_create) {
      throw new SignInRefused(`${person.name} is bound to no account`, errors.unauthenticated('no_account_bound'));
    }
    userId ??= await this.bindings.adopt(provider.key, person, caller);
    const user = await this.users.get(userId);
    // a disabled user is refused below, with or without a second factor
    if (user.totp_enabled && user.status === 1 && !provider.trusted_2fa) {
      const { issuer, subject } = person;
      const asked: Asked = { provider: provider.key, person: { issuer, subject } };
      throw errors.secondFactor(await this.challenges.open('second-factor', CODE_MINUTES, asked, { userId: user.id }));
    }
    const result = await this.sessionStart.signIn(user, caller, provider.trusted_2fa ? ['oauth', 'mfa'] : ['oauth']);
    await this.identities.touch(person, now());
    return result;
  }

  /**
   * Ends a sign-in that waits for a code.
   * @throws AppError 400001 without a code; 401001 an unknown, used or old challenge, or a wrong code; 403001, 423001,
   * 429001
   */
  async secondFactor({ challenge_id, ...codes }: SecondFactorInput, caller: Caller): Promise<LoginResult> {
    if (!codes.totpCode && !codes.recoveryCode)
      throw errors.field('totpCode', 'is needed, or recoveryCode', 'required');
    assertNetwork(await this.settings.securityFor(null), caller.ip);
    const open = await this.challenges.look<Asked>('second-factor', challenge_id);
    const user = open && (await this.users.find({ id: open.userId as number, status: 1 }));
    // the binding or the provider may have been removed meanwhile
    const bound = user && (await this.identities.owner(open.content.person)) === user.id;
    const offered = (await this.settings.offeredProviders()).some(({ key }) => key === open?.content.provider);
    if (!bound || !offered) return this.tooLate(caller, user?.username ?? '');
    await this.codes.check(user, codes, caller);
    if (!(await this.challenges.take('second-factor', challenge_id))) return this.tooLate(caller, user.username);
    const result = await this.sessionStart.signIn(user, caller, ['oauth', codeKind(codes)]);
    await this.identities.touch(open.content.person, now());
    return result;
  }

  private tooLate(caller: Caller, name: string): Promise<never> {
    return this.refusals.refuse(
      caller,
      name,
      'unknown, used or expired challenge',
      errors.unauthenticated('sign_in_too_late'),
    );
  }

  private async bind({ provider, identify }: Returned, binder: Binder, caller: Caller): Promise<OauthResult> {
    try {
      await this.assertStill(binder, caller);
      // it will count as both factors, as a passkey does
      if (provider.trusted_2fa) await this.freshness.assertOwner(caller, {});
      const person = await identify();
      // the provider may have taken long: a session that ended meanwhile must not leave a sign-in method behind
      await this.assertStill(binder, caller);
      await this.bindings.bind(provider.key, person, caller);
      return { bound: true };
    } catch (error) {
      const why = error instanceof SignInRefused ? error.why : (error as Error).message;
      const target = { type: 'user', id: binder.userId, name: caller.principal?.username ?? null };
      const entry = { action: 'oauth.bind' as const, target, after: { provider: provider.key } };
      await this.audit.append(caller, { ...entry, result: 'failed', error: why });
      throw error;
    }
  }

  /** Refuses unless the session that began is still live; its user becomes the caller. @throws SignInRefused */
  private async assertStill({ userId, sessionId }: Binder, caller: Caller): Promise<void> {
    const user = await this.users.find({ id: userId, status: 1 });
    const live = user ? await this.sessions.list(userId, (await this.settings.securityFor(user.role)).session) : [];
    if (!user || !live.some(({ id }) => Number(id) === sessionId))
      throw new SignInRefused('the session that began has ended', errors.unauthenticated('binding_session_ended'));
    caller.principal = userPrincipal(user, sessionId);
  }
}
