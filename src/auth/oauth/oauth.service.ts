import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { errors } from '../../platform/common/errors.js';
import { randomHex, sha256 } from '../../platform/common/hash.js';
import { Logger } from '../../platform/common/logger.js';
import { say } from '../../platform/common/words/field-text.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { SettingsService } from '../../settings/settings.service.js';
import { ChallengesService } from '../sessions/challenges.service.js';
import { redirectUri } from './browser.js';
import { type Person, plainIssuer } from './claims.js';
import type { OauthCallback, OauthStart, OauthStatus } from './oauth.dto.js';
import type { KnownProvider, OauthClients } from './oauth-clients.js';
import { OauthHttp } from './oauth-http.js';
import { SignInRefused } from './sign-in-refused.js';

const MINUTES = 10;

/** The user and session that bind a person. */
export interface Binder {
  userId: number;
  sessionId: number;
}

/** The state of a flow until the browser comes back. Stored encrypted. */
interface Pending {
  provider: string;
  issuer: string;
  nonce: string;
  verifier: string;
  redirectUri: string;
  /** SHA-256 of the cookie of the browser that began */
  browser: string;
  /** null: to sign in */
  bind: Binder | null;
}

/** A flow whose browser came back. */
export interface Returned {
  provider: KnownProvider;
  bind: Binder | null;
  /** Identifies the person at the provider. @throws SignInRefused, OutboundError */
  identify(): Promise<Person>;
}

/** The source of a provider's identities: a flow must end with the issuer that it began with. */
const issuerOf = (provider: KnownProvider) => provider.issuer ?? plainIssuer(provider);

/** A nonce, or a verifier of PKCE (RFC 7636, 4.1). */
const unguessable = () => randomBytes(32).toString('base64url');

/** The authorization code flow with PKCE. */
@Injectable()
export class OauthService {
  private loaded: Promise<OauthClients> | undefined;

  constructor(
    private readonly settings: SettingsService,
    private readonly challenges: ChallengesService,
    private readonly http: OauthHttp,
    private readonly metrics: Metrics,
    private readonly logger: Logger,
  ) {}

  /** Loaded by the first flow: many installations have no sign-in provider. */
  private clients(): Promise<OauthClients> {
    this.loaded ??= import('./oauth-clients.js').then(
      ({ OauthClients }) => new OauthClients(this.http, this.metrics, this.logger),
    );
    return this.loaded;
  }

  /** The sign-in providers, for the login page. */
  async status(): Promise<OauthStatus> {
    const providers = (await this.settings.offeredProviders()).map(({ key, name }) => ({ key, name }));
    return { enabled: providers.length > 0, providers };
  }

  /**
   * Begins a flow.
   * @param browser the value of the browser's cookie
   * @returns where to send the browser
   * @throws AppError 400001, 404001 no such provider, OutboundError
   */
  async start(input: OauthStart, browser: string, bind: Binder | null): Promise<string> {
    const redirect = redirectUri(await this.settings.publicUrl(), input.redirect ?? undefined);
    const provider = await this.provider(input.provider);
    const state = randomHex(32);
    const flow = { nonce: unguessable(), verifier: unguessable(), redirectUri: redirect };
    const url = await (await this.clients()).authorizationUrl(provider, { state, ...flow });
    const pending: Pending = {
      provider: provider.key,
      issuer: issuerOf(provider),
      ...flow,
      browser: sha256(browser),
      bind,
    };
    await this.challenges.open('oauth', MINUTES, pending, { userId: bind?.userId ?? null, key: state });
    return url;
  }

  /**
   * Ends a flow: its state is used up in any case.
   * @throws SignInRefused
   */
  async finish(input: OauthCallback, browser: string | null): Promise<Returned> {
    const found = await this.challenges.take<Pending>('oauth', input.state);
    if (!found) throw new SignInRefused('unknown, used or expired state', errors.unauthenticated('sign_in_too_late'));
    const { content: pending } = found;
    if (!browser || sha256(browser) !== pending.browser)
      throw new SignInRefused('another browser', errors.unauthenticated('sign_in_other_browser'));
    const provider = (await this.settings.oauthProviders()).find(({ key }) => key === pending.provider);
    if (!provider || issuerOf(provider) !== pending.issuer)
      throw new SignInRefused('the provider was changed meanwhile', errors.unauthenticated('sign_in_provider_changed'));
    const identify = async () => {
      if (input.error) throw denied(input.error, provider.name);
      return (await this.clients()).identify(
        provider,
        { ...pending, state: input.state },
        input.code as string,
        input.iss,
      );
    };
    return { provider, bind: pending.bind, identify };
  }

  private async provider(key: string | undefined): Promise<KnownProvider> {
    const providers = await this.settings.oauthProviders();
    if (!key && providers.length > 1)
      throw errors.field(
        'provider',
        say('must be one of {values}', { values: providers.map((p) => p.key).join(', ') }),
      );
    const found = key ? providers.find((provider) => provider.key === key) : providers[0];
    if (!found) throw errors.notFound('sign_in_provider');
    return found;
  }
}

/** The description is not shown: anybody can craft an address with any text in it. */
function denied(error: string, name: string): SignInRefused {
  const word = /^[a-z_]{1,40}$/.test(error) ? error : 'an error';
  return new SignInRefused(
    `the provider answered ${word}`,
    errors.unauthenticated(error === 'access_denied' ? 'sign_in_denied' : 'sign_in_provider_refused', {
      provider: name,
    }),
  );
}
