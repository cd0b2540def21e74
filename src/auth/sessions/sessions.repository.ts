import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Db } from '../../platform/database/db.js';
import { Session } from './session.entity.js';

/** What a request needs to know of its session, its user and the security settings. */
interface SignedInRow {
  id: number;
  user_id: number;
  last_active_at: string;
  amr: string | null;
  username: string;
  language: string;
  role: number;
  security: string | null;
}

/** A session as lists read it; `amr` is JSON. */
export interface SessionRow {
  id: number;
  created_at: string;
  last_active_at: string;
  expires_at: string;
  ip: string;
  user_agent: string;
  method: 'password' | 'passkey' | 'oauth';
  amr: string | null;
}

/** The statements of the table `sessions`. */
@Injectable()
export class SessionsRepository {
  constructor(private readonly db: Db) {}

  /** The live session of this name with its active user and the security settings: one statement for each request. */
  signedIn(sid: string, at: string): Promise<SignedInRow | undefined> {
    return this.db.row(
      `SELECT s.id, s.user_id, s.last_active_at, s.amr, u.username, u.language, u.role,
              (SELECT content FROM settings WHERE name = 'security') AS security
         FROM sessions s JOIN users u ON u.id = s.user_id
        WHERE s.sid = ? AND s.expires_at > ? AND u.status = 1`,
      [sid, at],
    );
  }

  /** The sessions of a user that expire after `at` and were used after `usedAfter`, the newest first. */
  live(userId: number, at: string, usedAfter: string): Promise<SessionRow[]> {
    return this.db.rows(
      `SELECT id, created_at, last_active_at, expires_at, ip, user_agent, method, amr FROM sessions
        WHERE user_id = ? AND expires_at > ? AND last_active_at > ? ORDER BY id DESC`,
      [userId, at, usedAfter],
    );
  }

  /** What a JWT of a session says of it. */
  named(id: number | null): Promise<Pick<Session, 'sid' | 'expires_at'> | undefined> {
    return this.db.row('SELECT sid, expires_at FROM sessions WHERE id = ?', [id]);
  }

  async exists(id: number | null, manager: EntityManager): Promise<boolean> {
    return (await this.db.row('SELECT id FROM sessions WHERE id = ?', [id], manager)) !== undefined;
  }

  async beganAfter(id: number | null, at: string): Promise<boolean> {
    return (await this.db.row('SELECT id FROM sessions WHERE id = ? AND created_at > ?', [id, at])) !== undefined;
  }

  /** What was shown in a session, as JSON; undefined when it has ended. */
  async amr(id: number | null, manager?: EntityManager): Promise<string | null | undefined> {
    const row = await this.db.row<{ amr: string | null }>('SELECT amr FROM sessions WHERE id = ?', [id], manager);
    return row?.amr;
  }

  /** What was shown in each session of a user, as JSON. */
  amrs(userId: number, manager: EntityManager): Promise<Pick<SessionRow, 'id' | 'amr'>[]> {
    return this.db.rows('SELECT id, amr FROM sessions WHERE user_id = ?', [userId], manager);
  }

  /** The addresses from which live sessions of a name came. */
  async addresses(username_key: string, at: string): Promise<string[]> {
    const rows = await this.db.rows<{ ip: string }>(
      `SELECT DISTINCT s.ip FROM users u JOIN sessions s ON s.user_id = u.id
        WHERE u.username_key = ? AND s.expires_at > ?`,
      [username_key, at],
    );
    return rows.map(({ ip }) => ip);
  }

  /** The browsers of a user's sessions. */
  async userAgents(userId: number, manager: EntityManager): Promise<string[]> {
    const sql = 'SELECT DISTINCT user_agent FROM sessions WHERE user_id = ?';
    const rows = await this.db.rows<{ user_agent: string }>(sql, [userId], manager);
    return rows.map(({ user_agent }) => user_agent);
  }

  /** @returns the id of the new session */
  async insert(session: Omit<Session, 'id' | 'user'>, manager: EntityManager): Promise<number> {
    const { identifiers } = await manager.insert(Session, session);
    return Number(identifiers[0]?.id);
  }

  /** @param amr JSON @returns whether there was such a session */
  async setAmr(id: number | null, amr: string, manager: EntityManager): Promise<boolean> {
    return (await this.db.run('UPDATE sessions SET amr = ? WHERE id = ?', [amr, id], manager)) > 0;
  }

  /** Stores when a session was used last, where the database can write. */
  async touch(id: number, at: string): Promise<void> {
    await this.db.note('UPDATE sessions SET last_active_at = ? WHERE id = ?', [at, id]);
  }

  /** @returns whether the user had such a session */
  async delete(id: number, userId: number, manager: EntityManager): Promise<boolean> {
    return (await this.db.run('DELETE FROM sessions WHERE id = ? AND user_id = ?', [id, userId], manager)) > 0;
  }

  /** Deletes all sessions of a user, or all but one. @returns how many */
  deleteAll(userId: number, except: number | null, manager: EntityManager): Promise<number> {
    return this.db.run('DELETE FROM sessions WHERE user_id = ? AND id <> ?', [userId, except ?? 0], manager);
  }

  async deleteExpired(at: string): Promise<void> {
    await this.db.run('DELETE FROM sessions WHERE expires_at < ?', [at]);
  }

  async deleteExpiredOf(userId: number, at: string, manager: EntityManager): Promise<void> {
    await this.db.run('DELETE FROM sessions WHERE user_id = ? AND expires_at < ?', [userId, at], manager);
  }
}
