import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Origin } from '../common/access.js';
import { now } from '../common/clock.js';
import { randomHex } from '../common/hash.js';
import { Db } from '../database/db.js';
import type { SecuritySettings } from '../settings/settings.dto.js';
import { Session } from './session.entity.js';

export type LoginMethod = 'password' | 'passkey' | 'oauth';

interface SessionRow {
  id: number;
  created_at: string;
  last_active_at: string;
  expires_at: string;
  ip: string;
  user_agent: string;
  method: string;
}

/** The logins of users. A JWT is worth what its row here says at each request; a row that is gone ends it on every replica. */
@Injectable()
export class SessionsService {
  constructor(private readonly db: Db) {}

  /** A fresh session; expired ones of the user are cleared away. */
  async create(
    manager: EntityManager,
    userId: number,
    { ip, userAgent }: Origin,
    method: LoginMethod,
    secondFactor: boolean,
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
      method,
      second_factor: secondFactor,
    };
    const { identifiers } = await manager.insert(Session, session);
    return { ...session, id: Number(identifiers[0]?.id) };
  }

  /** The live ones of a user, the newest first. */
  list(userId: number, life: SecuritySettings['session']): Promise<SessionRow[]> {
    return this.db.rows<SessionRow>(
      `SELECT id, created_at, last_active_at, expires_at, ip, user_agent, method FROM sessions
        WHERE user_id = ? AND expires_at > ? AND last_active_at > ? ORDER BY id DESC`,
      [userId, now(), now(-life.idle_minutes * 60_000)],
    );
  }

  /** @returns whether the user had such a session */
  async end(manager: EntityManager, userId: number, id: number): Promise<boolean> {
    return (await this.db.run('DELETE FROM sessions WHERE id = ? AND user_id = ?', [id, userId], manager)) > 0;
  }

  /** Ends all of a user, or all but one. @returns how many */
  endAll(manager: EntityManager, userId: number, except: number | null = null): Promise<number> {
    return this.db.run('DELETE FROM sessions WHERE user_id = ? AND id <> ?', [userId, except ?? 0], manager);
  }

  /** Drops those whose absolute life is over. */
  async prune(): Promise<void> {
    await this.db.run('DELETE FROM sessions WHERE expires_at < ?', [now()]);
  }
}
