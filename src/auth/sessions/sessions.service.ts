import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { type Caller, type Origin, signedIn } from '../../common/access.js';
import { networkOf } from '../../common/cidr.js';
import { now } from '../../common/clock.js';
import { errors } from '../../common/errors.js';
import { randomHex } from '../../common/hash.js';
import { Db } from '../../database/db.js';
import type { SecuritySettings } from '../../settings/settings.dto.js';
import { Session } from './session.entity.js';

/**
 * What somebody showed to sign in, or since; `mfa`: several factors, at a provider whose word counts (`trusted_2fa`).
 */
export type Shown = 'password' | 'totp' | 'recovery' | 'passkey' | 'oauth' | 'mfa';

/** A session is fresh that long: who began it is taken to sit there still. */
const FRESH_MS = 5 * 60_000;

/** A passkey asks for a PIN or a finger itself. */
const SECOND_FACTORS: readonly string[] = ['totp', 'recovery', 'passkey', 'mfa'] satisfies Shown[];

/** What a session's column says. */
export const amrOf = (text: string | null): Shown[] => (text ? JSON.parse(text) : []);

/** Whether a second factor was shown, and not switched off since. */
export const showedSecondFactor = (amr: readonly Shown[]): boolean =>
  amr.some((shown) => SECOND_FACTORS.includes(shown));

interface SessionRow {
  id: number;
  created_at: string;
  last_active_at: string;
  expires_at: string;
  ip: string;
  user_agent: string;
  method: 'password' | 'passkey' | 'oauth';
  amr: Shown[];
}

/**
 * The logins of users. A JWT is worth what its row here says at each request; a row that is gone ends it on every
 * replica.
 */
@Injectable()
export class SessionsService {
  constructor(private readonly db: Db) {}

  /** A fresh session, named after what was shown first; expired ones of the user are cleared away. */
  async create(
    manager: EntityManager,
    userId: number,
    { ip, userAgent }: Origin,
    amr: [Shown, ...Shown[]],
    life: SecuritySettings['session'],
  ): Promise<Session> {
    await this.db.run('DELETE FROM sessions WHERE user_id = ? AND expires_at < ?', [userId, now()], manager);
    const session = {
      sid: randomHex(32),
      user_id: userId,
      created_at: now(),
      last_active_at: now(),
      expires_at: now(life.absolute_days * 86_400_000),
      ip,
      user_agent: userAgent,
      method: amr[0],
      amr,
    };
    const { identifiers } = await manager.insert(Session, session);
    return { ...session, id: Number(identifiers[0]?.id) };
  }

  /** The live ones of a user, the newest first. */
  async list(userId: number, life: SecuritySettings['session']): Promise<SessionRow[]> {
    const rows = await this.db.rows<Omit<SessionRow, 'amr'> & { amr: string | null }>(
      `SELECT id, created_at, last_active_at, expires_at, ip, user_agent, method, amr FROM sessions
        WHERE user_id = ? AND expires_at > ? AND last_active_at > ? ORDER BY id DESC`,
      [userId, now(), now(-life.idle_minutes * 60_000)],
    );
    return rows.map((row) => ({ ...row, amr: amrOf(row.amr) }));
  }

  /**
   * Notes what was shown in a session. Call it in a transaction that locks the user.
   * @returns false when the session has ended
   */
  async showed(manager: EntityManager, id: number | null, shown: Shown): Promise<boolean> {
    const row = await this.db.row<{ amr: string | null }>('SELECT amr FROM sessions WHERE id = ?', [id], manager);
    if (!row) return false;
    const amr = [...new Set([...amrOf(row.amr), shown])];
    return (await this.db.run('UPDATE sessions SET amr = ? WHERE id = ?', [JSON.stringify(amr), id], manager)) > 0;
  }

  /**
   * A factor that is switched off was shown in vain: no session of the user counts as having shown it. Call it in a
   * transaction that locks the user.
   */
  async forget(manager: EntityManager, userId: number, factors: Shown[]): Promise<void> {
    const sql = 'SELECT id, amr FROM sessions WHERE user_id = ?';
    for (const { id, amr } of await this.db.rows<{ id: number; amr: string | null }>(sql, [userId], manager)) {
      const left = amrOf(amr).filter((shown) => !factors.includes(shown));
      await this.db.run('UPDATE sessions SET amr = ? WHERE id = ?', [JSON.stringify(left), id], manager);
    }
  }

  /** What a JWT of the session says of it; undefined when it has ended. */
  named(id: number | null): Promise<Pick<Session, 'sid' | 'expires_at'> | undefined> {
    return this.db.row('SELECT sid, expires_at FROM sessions WHERE id = ?', [id]);
  }

  /** What was shown in a session and still counts. */
  async shownIn(id: number | null): Promise<Shown[]> {
    const row = await this.db.row<{ amr: string | null }>('SELECT amr FROM sessions WHERE id = ?', [id]);
    return amrOf(row?.amr ?? null);
  }

  /** Notes that it is used. */
  async touch(id: number): Promise<void> {
    await this.db.note('UPDATE sessions SET last_active_at = ? WHERE id = ?', [now(), id]);
  }

  /** Whether a live session of this name came from the network. */
  async knowsNetwork(username: string, network: string): Promise<boolean> {
    const rows = await this.db.rows<{ ip: string }>(
      `SELECT DISTINCT s.ip FROM users u JOIN sessions s ON s.user_id = u.id
        WHERE u.username_key = ? AND s.expires_at > ?`,
      [username, now()],
    );
    return rows.some((row) => networkOf(row.ip) === network);
  }

  /** @returns whether the user had such a session */
  async end(manager: EntityManager, userId: number, id: number): Promise<boolean> {
    return (await this.db.run('DELETE FROM sessions WHERE id = ? AND user_id = ?', [id, userId], manager)) > 0;
  }

  /** Ends all of a user, or all but one. @returns how many */
  endAll(manager: EntityManager, userId: number, except: number | null = null): Promise<number> {
    return this.db.run('DELETE FROM sessions WHERE user_id = ? AND id <> ?', [userId, except ?? 0], manager);
  }

  /**
   * That who asks signed in just now: for what would make a session that was stolen, or left open, a way in for good.
   * @throws AppError 403001
   */
  async assertFresh(caller: Caller, message: string): Promise<void> {
    const sql = 'SELECT id FROM sessions WHERE id = ? AND created_at > ?';
    const fresh = await this.db.row(sql, [signedIn(caller).sessionId, now(-FRESH_MS)]);
    if (!fresh) throw errors.forbidden(message, { required: 'fresh' });
  }

  /** Drops those whose absolute life is over. */
  async prune(): Promise<void> {
    await this.db.run('DELETE FROM sessions WHERE expires_at < ?', [now()]);
  }
}
