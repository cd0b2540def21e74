import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  calculatePKCECodeChallenge,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchProtectedResource,
  fetchUserInfo,
  None,
  ResponseBodyError,
} from 'openid-client';
import { wallMs } from '../../platform/common/clock.js';
import { sha256 } from '../../platform/common/hash.js';
import { Logger } from '../../platform/common/logger.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { OutboundError } from '../../platform/outbound/outbound-error.js';
import type { OauthProvider } from '../../settings/oauth-settings.dto.js';
import { fieldOf, type Person, personOf, plainIssuer, subjectOf } from './claims.js';
import { isPlainHttp, OauthHttp } from './oauth-http.js';
import { plainTokenAnswer } from './plain-oauth.js';
import { SignInRefused } from './sign-in-refused.js';

/** A provider of the settings, with its secret. */
export type KnownProvider = OauthProvider & { client_secret: string | null };

/** The parameters of a flow that are checked when the browser comes back. */
interface Flow {
  state: string;
  nonce: string;
  verifier: string;
  redirectUri: string;
}

const DISCOVERED_MS = 10 * 60_000;
const MAX_KNOWN = 100;

/** Errors of malformed answers, in contrast to refusals. */
const NONSENSE = new Set([
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'OAUTH_PARSE_ERROR',
  'OAUTH_TIMEOUT',
]);

/**
 * Basic unless the provider only takes POST parameters: every provider must support it (RFC 6749, 2.3.1), and it is the
 * default of a discovery document.
 */
function clientAuth(secret: string | null, plain: boolean): ClientAuth {
  if (!secret) return None();
  const basic = ClientSecretBasic(secret);
  const post = ClientSecretPost(secret);
  return (server, client, body, headers) => {
    const known = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    (plain || !known.includes('client_secret_basic') ? post : basic)(server, client, body, headers);
  };
}

/** The client of OpenID Connect and plain OAuth 2.0 providers. Opens no transaction. */
export class OauthClients {
  private readonly known = new Map<string, { until: number; config: Configuration }>();

  constructor(
    private readonly http: OauthHttp,
    private readonly metrics: Metrics,
    private readonly logger: Logger,
  ) {}

  /** Where to send the browser. @throws OutboundError */
  async authorizationUrl(provider: KnownProvider, { state, nonce, verifier, redirectUri }: Flow): Promise<string> {
    const config = await this.configuration(provider);
    const scopes = provider.scopes?.length ? provider.scopes : provider.issuer ? ['openid', 'profile', 'email'] : [];
    if (provider.issuer && !scopes.includes('openid')) scopes.unshift('openid');
    const parameters: Record<string, string> = {
      redirect_uri: redirectUri,
      state,
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    };
    if (scopes.length) parameters.scope = scopes.join(' ');
    if (provider.issuer) parameters.nonce = nonce;
    return buildAuthorizationUrl(config, parameters).href;
  }

  /**
   * Exchanges the code for the verified identity of the person.
   * @param iss of the callback (RFC 9207)
   * @throws SignInRefused when it cannot be verified, OutboundError when the provider does not answer
   */
  async identify(provider: KnownProvider, flow: Flow, code: string, iss: string | undefined): Promise<Person> {
    try {
      const config = await this.configuration(provider);
      const back = new URL(flow.redirectUri);
      back.searchParams.set('code', code);
      back.searchParams.set('state', flow.state);
      // the settings of a plain OAuth 2.0 provider have no issuer to compare it with
      if (iss && provider.issuer) back.searchParams.set('iss', iss);
      const checks = { pkceCodeVerifier: flow.verifier, expectedState: flow.state };
      return provider.issuer
        ? await this.identifyOpenid(provider, config, back, { ...checks, expectedNonce: flow.nonce })
        : await this.identifyPlain(provider, config, back, checks);
    } catch (error) {
      throw translated(error, provider, this.logger);
    }
  }

  private async identifyOpenid(
    provider: KnownProvider,
    config: Configuration,
    back: URL,
    checks: Parameters<typeof authorizationCodeGrant>[2],
  ): Promise<Person> {
    const tokens = await authorizationCodeGrant(config, back, { ...checks, idTokenExpected: true });
    const claims = tokens.claims();
    const subject = subjectOf(claims?.sub);
    if (!claims || !subject) throw new SignInRefused('the id_token has no usable subject');
    const more = config.serverMetadata().userinfo_endpoint
      ? await fetchUserInfo(config, tokens.access_token, claims.sub)
      : {};
    return personOf(provider.key, claims.iss, subject, { ...claims, ...more });
  }

  private async identifyPlain(
    provider: KnownProvider,
    config: Configuration,
    back: URL,
    checks: Parameters<typeof authorizationCodeGrant>[2],
  ): Promise<Person> {
    const { access_token } = await authorizationCodeGrant(config, back, checks);
    const url = new URL(provider.userinfo_endpoint as string);
    const headers = new Headers({ accept: 'application/json' });
    const answer = await fetchProtectedResource(config, access_token, url, 'GET', undefined, headers);
    if (answer.status >= 500) throw new OutboundError('unavailable', 'The identity provider does not answer');
    if (answer.status !== 200) throw new SignInRefused(`the provider answered ${answer.status} about the person`);
    const claims = await answer.json().catch(() => {
      throw new OutboundError('unavailable', 'The identity provider answers no JSON about the person');
    });
    const field = provider.subject_field as string;
    const subject = subjectOf(fieldOf(claims, field));
    if (!subject) throw new SignInRefused(`the field ${field} of the person is no usable subject`);
    return personOf(provider.key, plainIssuer(provider), subject, claims as Record<string, unknown>);
  }

  /** Cached for some minutes while the settings stay the same, with the keys of the issuer. */
  private async configuration(provider: KnownProvider): Promise<Configuration> {
    const key = sha256(JSON.stringify(provider));
    const found = this.known.get(key);
    const fresh = found !== undefined && found.until > wallMs();
    this.metrics.countRemembered('issuers', fresh);
    if (fresh) return found.config;
    const config = provider.issuer ? await this.discovered(provider, provider.issuer) : this.plain(provider);
    if (this.known.size >= MAX_KNOWN) this.known.clear();
    this.known.set(key, { until: wallMs() + DISCOVERED_MS, config });
    return config;
  }

  private async discovered({ key, client_id, client_secret }: KnownProvider, issuer: string): Promise<Configuration> {
    this.http.assertAllowed(issuer);
    let config: Configuration;
    try {
      config = await discovery(new URL(issuer), client_id, undefined, clientAuth(client_secret, false), {
        [customFetch]: this.http.fetch,
        timeout: this.http.timeout,
        // without this the signature of an id_token from the token endpoint would not be verified
        execute: [enableNonRepudiationChecks, ...(isPlainHttp(issuer) ? [allowInsecureRequests] : [])],
      });
    } catch (error) {
      const { why } = reasonOf(error);
      this.logger.warn({ provider: key, why }, 'the discovery of an identity provider failed');
      throw providerErrorIn(error) ?? new OutboundError('unavailable', 'The discovery of the identity provider failed');
    }
    const found = config.serverMetadata();
    // the library accepts some issuers that differ: the document of one must never speak for another
    if (new URL(found.issuer).href !== new URL(issuer).href)
      throw new OutboundError('rejected', 'The discovery document is of another issuer');
    const { authorization_endpoint, token_endpoint, jwks_uri, userinfo_endpoint } = found;
    if (!authorization_endpoint || !token_endpoint || !jwks_uri)
      throw new OutboundError('rejected', 'The discovery document lacks endpoints');
    for (const url of [authorization_endpoint, token_endpoint, jwks_uri, userinfo_endpoint])
      if (url) this.http.assertAllowed(url);
    return config;
  }

  private plain(provider: KnownProvider): Configuration {
    const { authorization_endpoint, token_endpoint, userinfo_endpoint, client_id, client_secret } = provider;
    const endpoints = [authorization_endpoint, token_endpoint, userinfo_endpoint] as string[];
    for (const url of endpoints) this.http.assertAllowed(url);
    const config = new Configuration(
      {
        issuer: plainIssuer(provider),
        authorization_endpoint: authorization_endpoint as string,
        token_endpoint: token_endpoint as string,
      },
      client_id,
      undefined,
      clientAuth(client_secret, true),
    );
    config.timeout = this.http.timeout;
    config[customFetch] = async (url, options) => {
      const answer = await this.http.fetch(url, options);
      return options.method === 'POST' ? plainTokenAnswer(answer) : answer;
    };
    if (endpoints.some(isPlainHttp)) allowInsecureRequests(config);
    return config;
  }
}

/** The errors of a chain of causes, the outermost first. */
function chain(error: unknown): unknown[] {
  const out: unknown[] = [];
  for (let e = error; e instanceof Error && out.length < 5; e = e.cause) out.push(e);
  return out;
}

const providerErrorIn = (error: unknown) =>
  chain(error).find(
    (e): e is OutboundError | SignInRefused => e instanceof OutboundError || e instanceof SignInRefused,
  );

/**
 * The reason in the fixed words of the library. Messages of parsers and providers may hold parts of the answer, such as
 * tokens.
 */
function reasonOf(error: unknown): { why: string; codes: string[] } {
  const known = chain(error).filter((e) => String((e as { code?: unknown }).code).startsWith('OAUTH_')) as {
    code: string;
    message: string;
  }[];
  const told = error instanceof ResponseBodyError && /^[a-z_]{1,40}$/.test(error.error) ? `: ${error.error}` : '';
  const why = known.map(({ message }) => message).join(': ') || (error as Error).name;
  return { why: why + told, codes: known.map(({ code }) => code) };
}

function translated(error: unknown, { key }: KnownProvider, logger: Logger): unknown {
  const own = providerErrorIn(error);
  const { why, codes } = own instanceof SignInRefused ? { why: own.why, codes: [] } : reasonOf(error);
  logger.warn({ provider: key, why: own instanceof OutboundError ? own.message : why }, 'a sign-in was not verified');
  if (own) return own;
  if (codes.some((code) => NONSENSE.has(code)))
    return new OutboundError('unavailable', 'The identity provider does not answer as it should');
  return new SignInRefused(why);
}
