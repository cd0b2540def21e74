import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { Request } from 'express';
import { Strategy as CustomStrategy } from 'passport-custom';
import { Strategy as JwtStrategyBase, type SecretOrKeyProvider } from 'passport-jwt';
import type { Principal } from '../common/access.js';
import { now } from '../common/clock.js';
import { sha256 } from '../common/hash.js';
import { Db } from '../database/db.js';
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
    });
  }

  async validate(payload: { sub?: string; sid?: string }): Promise<Principal | null> {
    if (!payload.sid || !payload.sub) return null;
    const row = await this.db.row<{ user_id: number; username: string; role: number; last_active_at: string }>(
      `SELECT s.user_id, s.last_active_at, u.username, u.role FROM sessions s JOIN users u ON u.id = s.user_id
        WHERE s.id = ? AND s.expires_at > ? AND u.status = 1`,
      [payload.sid, now()],
    );
    if (!row || String(row.user_id) !== payload.sub) return null;
    if (row.last_active_at < now(-TOUCH_MS)) {
      await this.db.run('UPDATE sessions SET last_active_at = ? WHERE id = ?', [now(), payload.sid]);
    }
    const { user_id: userId, username, role } = row;
    return { kind: 'user', userId, username, role, sessionId: payload.sid, token: null };
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
              t.last_used_at, u.username, u.role
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
      token: {
        id: row.id,
        name: row.name,
        allowedDomains: row.narrowed ? JSON.parse(row.allowed_domains) : null,
        allowedServices: JSON.parse(row.allowed_services),
      },
    };
  }
}
