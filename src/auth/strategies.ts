import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { Request } from 'express';
import { Strategy as CustomStrategy } from 'passport-custom';
import { Strategy as JwtStrategyBase, type SecretOrKeyProvider } from 'passport-jwt';
import type { Principal, ZoneRequest } from '../common/access.js';
import { inCidrs, parseCidr } from '../common/cidr.js';
import { now } from '../common/clock.js';
import { errors } from '../common/errors.js';
import { sha256 } from '../common/hash.js';
import { Db } from '../database/db.js';
import { securityFrom } from '../settings/documents.js';
import type { SecuritySettings } from '../settings/settings.dto.js';
import { SigningKey } from '../users/signing-key.js';

/** `last_active_at` and `last_used_at` are written at most once in this time. */
const TOUCH_MS = 60_000;

/** The credential of `Authorization: Bearer …`, or null. */
export function bearer(request: Request): string | null {
  const match = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '');
  return match?.[1] ?? null;
}

/** API tokens are known by their prefix, which no JWT has: neither check is tried on the other's credentials. */
export const isApiToken = (credential: string | null): credential is string => credential?.startsWith('svc_') ?? false;

/** @throws AppError 403001 where people may not sign in from */
export function assertNetwork({ allowed_cidrs }: SecuritySettings, ip: string): void {
  if (allowed_cidrs.length && !inCidrs(ip, allowed_cidrs.map(parseCidr)))
    throw errors.forbidden('Signing in is not allowed from your network', { required: 'network' });
}

interface SessionRow {
  id: number;
  user_id: number;
  last_active_at: string;
  second_factor: boolean | number;
  username: string;
  role: number;
  totp_enabled: boolean | number;
  security: string | null;
}

/** A user JWT: HS256 with our key, its session alive, its user active. All of it is read at each request. */
@Injectable()
export class JwtStrategy extends PassportStrategy(JwtStrategyBase, 'jwt') {
  constructor(
    private readonly db: Db,
    key: SigningKey,
  ) {
    const provider: SecretOrKeyProvider = (_request, _token, done) => {
      key.get().then(
        (secret) => (secret ? done(null, secret as never) : done(new Error('no signing secret yet'))),
        (error) => done(error),
      );
    };
    super({
      jwtFromRequest: bearer,
      secretOrKeyProvider: provider,
      algorithms: ['HS256'],
      passReqToCallback: true,
    });
  }

  async validate(request: ZoneRequest, payload: { sub?: string; sid?: string }): Promise<Principal | null> {
    if (!payload.sid || !payload.sub) return null;
    const row = await this.db.row<SessionRow>(
      `SELECT s.id, s.user_id, s.last_active_at, s.second_factor, u.username, u.role, u.totp_enabled,
              (SELECT content FROM settings WHERE name = 'security') AS security
         FROM sessions s JOIN users u ON u.id = s.user_id
        WHERE s.sid = ? AND s.expires_at > ? AND u.status = 1`,
      [payload.sid, now()],
    );
    if (!row || String(row.user_id) !== payload.sub) return null;
    const security = securityFrom(row.security);
    if (row.last_active_at < now(-security.session.idle_minutes * 60_000)) return null;
    assertNetwork(security, request.caller.ip);
    if (row.last_active_at < now(-TOUCH_MS)) {
      await this.db.run('UPDATE sessions SET last_active_at = ? WHERE id = ?', [now(), row.id]);
    }
    const { user_id: userId, username, role, id: sessionId } = row;
    const required = security.require_2fa_role;
    return {
      kind: 'user',
      userId,
      username,
      role,
      sessionId,
      lacksSecondFactor: required !== null && role >= required && !row.totp_enabled && !row.second_factor,
      ratePerMinute: security.rate_limits.user,
      token: null,
    };
  }
}

interface TokenRow {
  id: number;
  user_id: number;
  name: string;
  narrowed: boolean | number;
  allowed_domains: string;
  allowed_services: string;
  start_time: string | null;
  end_time: string | null;
  max_role: number;
  last_used_at: string | null;
  username: string;
  role: number;
  security: string | null;
}

/** An API token: by the SHA-256 of its text, active, inside its window, its creator active. */
@Injectable()
export class ApiTokenStrategy extends PassportStrategy(CustomStrategy, 'api-token') {
  constructor(private readonly db: Db) {
    super();
  }

  async validate(request: Request): Promise<Principal | null> {
    const credential = bearer(request);
    if (!isApiToken(credential)) return null;
    const row = await this.db.row<TokenRow>(
      `SELECT t.id, t.user_id, t.name, t.narrowed, t.allowed_domains, t.allowed_services, t.start_time, t.end_time, t.max_role,
              t.last_used_at, u.username, u.role, (SELECT content FROM settings WHERE name = 'security') AS security
         FROM api_tokens t JOIN users u ON u.id = t.user_id
        WHERE t.token_hash = ? AND t.is_active = ? AND u.status = 1`,
      [sha256(credential), true],
    );
    const moment = now();
    if (!row || (row.start_time && moment < row.start_time) || (row.end_time && moment > row.end_time)) return null;
    if (!row.last_used_at || row.last_used_at < now(-TOUCH_MS)) {
      await this.db.run('UPDATE api_tokens SET last_used_at = ? WHERE id = ?', [moment, row.id]);
    }
    return {
      kind: 'token',
      userId: row.user_id,
      username: row.username,
      role: Math.min(row.max_role, row.role),
      sessionId: null,
      lacksSecondFactor: false,
      ratePerMinute: securityFrom(row.security).rate_limits.token,
      token: {
        id: row.id,
        name: row.name,
        allowedDomains: row.narrowed ? JSON.parse(row.allowed_domains) : null,
        allowedServices: JSON.parse(row.allowed_services),
      },
    };
  }
}
