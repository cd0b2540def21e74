import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { Request } from 'express';
import { Strategy as CustomStrategy } from 'passport-custom';
import { Strategy as JwtStrategyBase, type SecretOrKeyProvider } from 'passport-jwt';
import type { Principal, Scope, ZoneRequest } from '../../access/access.js';
import { networkOf } from '../../platform/common/cidr.js';
import { now, timeMs } from '../../platform/common/clock.js';
import { errors } from '../../platform/common/errors.js';
import { sha256 } from '../../platform/common/hash.js';
import { currentProtocol } from '../../platform/http/protocol.js';
import { securityFrom } from '../../settings/documents.js';
import { ApiTokensRepository, type TokenRow } from '../../tokens/api-tokens.repository.js';
import { judgeToken, NO_FACTOR, tokenPrincipal } from '../../tokens/token-access.js';
import { TokenUses } from '../../tokens/token-uses.service.js';
import { assertNetwork } from '../sessions/network.js';
import { SessionsRepository } from '../sessions/sessions.repository.js';
import { amrOf, showedSecondFactor } from '../sessions/sessions.service.js';
import { SigningKey } from '../sessions/signing-key.js';

/** The least time between two updates of `last_active_at` or `last_used_at`. */
const TOUCH_MS = 60_000;

/** The JWT or API token of a request, as its protocol carries it, or null. */
export const credentialOf = (request: Request): string | null => currentProtocol().credential(request);

/** API tokens are recognised by their prefix, which no JWT has. */
export const isApiToken = (credential: string | null): credential is string => credential?.startsWith('svc_') ?? false;

/** User JWTs: HS256 with our key, of a live session of an active user. Each request reads all of it. */
@Injectable()
export class JwtStrategy extends PassportStrategy(JwtStrategyBase, 'jwt') {
  constructor(
    private readonly sessions: SessionsRepository,
    key: SigningKey,
  ) {
    // its type knows no KeyObject, jsonwebtoken behind it does
    const provider: SecretOrKeyProvider = (_request, token, done) => {
      key.of(token).then(
        (secret) => (secret ? done(null, secret as unknown as Buffer) : done(new Error('no signing secret yet'))),
        (error) => done(error),
      );
    };
    super({
      jwtFromRequest: credentialOf,
      secretOrKeyProvider: provider,
      algorithms: ['HS256'],
      passReqToCallback: true,
      // `validate` compares it with the clock that processes share
      ignoreExpiration: true,
    });
  }

  async validate(
    request: ZoneRequest,
    { sid, sub, iat, exp }: { sub?: string; sid?: string; iat: number; exp?: number },
  ): Promise<Principal | null> {
    if (!exp || exp * 1000 <= timeMs()) {
      request.sessionFault = 'session_expired';
      return null;
    }
    request.sessionFault = 'session_ended';
    const principal = await this.judge(sid, sub, request.caller.ip, true);
    return principal && { ...principal, renewAt: (iat + exp) * 500 };
  }

  /**
   * The principal of a session; null when it has ended.
   * @param used whether this counts as a use of the session, which keeps it from expiring unused
   * @throws AppError 403001 in a network that may not sign in
   */
  async judge(sid: string | undefined, sub: string | undefined, ip: string, used: boolean): Promise<Principal | null> {
    if (!sid || !sub) return null;
    const row = await this.sessions.signedIn(sid, now());
    if (!row || String(row.user_id) !== sub) return null;
    const security = securityFrom(row.security, row.role);
    if (row.last_active_at < now(-security.session.idle_minutes * 60_000)) return null;
    assertNetwork(security, ip);
    if (used && row.last_active_at < now(-TOUCH_MS)) {
      await this.sessions.touch(row.id, now());
    }
    const { user_id: userId, username, language, role, id: sessionId } = row;
    const required = security.require_2fa_role;
    return {
      kind: 'user',
      userId,
      username,
      language,
      role,
      sessionId,
      lacksSecondFactor: required !== null && role >= required && !showedSecondFactor(amrOf(row.amr)),
      ratePerMinute: security.rate_limits.user,
      token: null,
    };
  }
}

/** API tokens: by the SHA-256 of their text, of active users, within their limits. */
@Injectable()
export class ApiTokenStrategy extends PassportStrategy(CustomStrategy, 'api-token') {
  constructor(
    private readonly tokens: ApiTokensRepository,
    private readonly uses: TokenUses,
  ) {
    super();
  }

  async validate(request: ZoneRequest): Promise<Principal | null> {
    const credential = credentialOf(request);
    return isApiToken(credential) ? this.judge(sha256(credential), request.caller.ip, true) : null;
  }

  /**
   * The principal of a token; null when it is invalid.
   * @param used whether this counts as a use of the token
   * @throws AppError 403001
   */
  async judge(hash: string, ip: string, used: boolean): Promise<Principal | null> {
    const row = await this.tokens.bySecret(hash, now());
    return row ? this.judgeRow(row, ip, used) : null;
  }

  /**
   * The principal of a token that was proved by a key or a hook, which counts as its use; null if the token is invalid.
   * @param at scope of the integration in use
   */
  async ofId(id: number, ip: string, at: Scope): Promise<Principal | null> {
    const row = await this.tokens.withCreator(id);
    return row ? this.judgeRow(row, ip, true, at) : null;
  }

  private async judgeRow(row: TokenRow, ip: string, used: boolean, at: Scope | null = null): Promise<Principal | null> {
    const { allowed, source, reason } = judgeToken(row, ip);
    if (source === 'network' && !allowed) throw errors.forbidden('token_network', { ip }, { required: 'network' });
    if (reason === NO_FACTOR) throw errors.forbidden('creator_lacks_second_factor', {}, { required: '2fa' });
    if (!allowed) return null;
    if (used) this.uses.count(row.id, ip);
    if (used && (!row.last_used_at || row.last_used_at < now(-TOUCH_MS))) {
      await this.tokens.touch(row.id, now(), networkOf(ip));
    }
    return tokenPrincipal(row, at);
  }
}
