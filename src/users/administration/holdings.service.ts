import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { SessionsService } from '../../auth/sessions/sessions.service.js';
import { Db } from '../../database/db.js';
import type { Holdings, Revoked } from './users.dto.js';

/** What opens an account besides its password. By SQL, since the folders that keep it stand on this one. */
@Injectable()
export class HoldingsService {
  constructor(
    private readonly db: Db,
    private readonly sessions: SessionsService,
  ) {}

  /** What goes on working after a new password. */
  async of(manager: EntityManager, userId: number): Promise<Holdings> {
    const rows = <T>(sql: string) => this.db.rows<T>(sql, [userId], manager);
    const tokens = await rows<{ id: number; name: string; is_active: boolean | number }>(
      'SELECT id, name, is_active FROM api_tokens WHERE user_id = ? ORDER BY id',
    );
    return {
      tokens: tokens.map((token) => ({ ...token, is_active: Boolean(token.is_active) })),
      passkeys: await rows('SELECT id, name FROM passkeys WHERE user_id = ? ORDER BY id'),
      identities: await rows('SELECT provider, name FROM identities WHERE user_id = ? ORDER BY provider'),
    };
  }

  /** Takes it away, with all sessions and whatever was begun. Deleted, since who holds a session could switch a token on again. */
  async revoke(manager: EntityManager, userId: number, secondFactor: boolean): Promise<Revoked> {
    const remove = (table: string) => this.db.run(`DELETE FROM ${table} WHERE user_id = ?`, [userId], manager);
    const revoked = {
      sessions: await this.sessions.endAll(manager, userId),
      tokens: await remove('api_tokens'),
      passkeys: await remove('passkeys'),
      identities: await remove('identities'),
    };
    await this.dropChallenges(manager, userId);
    if (!secondFactor) return { ...revoked, second_factor: false };
    await remove('recovery_codes');
    const second_factor = (await remove('second_factors')) > 0;
    await this.db.run('UPDATE users SET totp_enabled = ? WHERE id = ?', [false, userId], manager);
    return { ...revoked, second_factor };
  }

  /** Ends what was begun and waits to come back: mailed links and codes, sign-ins that wait for a code, new passkeys, bindings. */
  async dropChallenges(manager: EntityManager, userId: number): Promise<void> {
    await this.db.run('DELETE FROM challenges WHERE user_id = ?', [userId], manager);
  }

  /** Whether anybody active of this role has a password, a passkey or a sign-in at a provider. */
  async someWayIn(manager: EntityManager, role: number): Promise<boolean> {
    const sql = `SELECT id FROM users u WHERE role = ? AND status = 1 AND (password_hash <> ''
      OR EXISTS (SELECT 1 FROM passkeys p WHERE p.user_id = u.id) OR EXISTS (SELECT 1 FROM identities i WHERE i.user_id = u.id)) LIMIT 1`;
    return (await this.db.row(sql, [role], manager)) !== undefined;
  }
}
