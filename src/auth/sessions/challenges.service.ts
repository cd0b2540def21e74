import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { now } from '../../common/clock.js';
import { randomHex, sha256 } from '../../common/hash.js';
import { SECRET_BOX } from '../../config/config.module.js';
import type { SecretBox } from '../../config/secret-box.js';
import { Db } from '../../database/db.js';
import { SEALED_HEAD, SealedValues } from '../../database/sealed-values.js';

const CONTEXT = 'challenges.content';

export type ChallengeKind = 'passkey-add' | 'passkey-login' | 'oauth' | 'reset' | 'email-code' | 'second-factor';

interface OpenOptions {
  userId?: number | null;
  /** what the client holds, when it is not to be made up here; one that is open already is replaced */
  key?: string;
  manager?: EntityManager;
}

/**
 * What must come back once, soon. In the database, so that any replica may be asked next; encrypted, and found by the
 * hash of what the client holds.
 */
@Injectable()
export class ChallengesService {
  constructor(
    private readonly db: Db,
    @Inject(SECRET_BOX) private readonly box: SecretBox,
    sealed: SealedValues,
  ) {
    sealed.keep('challenges, for some minutes', {
      fleeting: true,
      heads: async () => {
        const sql = `SELECT SUBSTR(content, 1, ${SEALED_HEAD}) AS head FROM challenges WHERE expires_at > ?`;
        return (await db.rows<{ head: string }>(sql, [now()])).map(({ head }) => head);
      },
      renew: () =>
        sealed.renewColumn(
          CONTEXT,
          '',
          (id, head, limit) =>
            db.rows<{ id: string; sealed: string }>(
              `SELECT id, content AS sealed FROM challenges
                WHERE id > ? AND SUBSTR(content, 1, ${SEALED_HEAD}) <> ? ORDER BY id LIMIT ${limit}`,
              [id, head],
            ),
          (id, old, fresh) =>
            db.run('UPDATE challenges SET content = ? WHERE id = ? AND content = ?', [fresh, id, old]),
        ),
      each: async () => {
        const sql = `SELECT id, kind, SUBSTR(content, 1, ${SEALED_HEAD}) AS head FROM challenges WHERE expires_at > ?`;
        return (await db.rows<{ id: string; kind: string; head: string }>(sql, [now()])).map(({ id, kind, head }) => ({
          of: kind,
          head,
          drop: (manager) => db.run('DELETE FROM challenges WHERE id = ?', [id], manager),
        }));
      },
    });
  }

  /**
   * Remembers `content` for `minutes`.
   * @returns what the client holds: 256 random bits as 64 hexadecimal characters
   */
  async open(
    kind: ChallengeKind,
    minutes: number,
    content: object,
    { userId = null, key: given, manager }: OpenOptions = {},
  ): Promise<string> {
    const key = given ?? randomHex(32);
    const id = sha256(`${kind}|${key}`);
    const sealed = this.box.encrypt(JSON.stringify(content), CONTEXT);
    if (given) await this.db.run('DELETE FROM challenges WHERE id = ?', [id], manager);
    await this.db.run(
      'INSERT INTO challenges (id, kind, user_id, content, tries, expires_at) VALUES (?, ?, ?, ?, 0, ?)',
      [id, kind, userId, sealed, now(minutes * 60_000)],
      manager,
    );
    return key;
  }

  /** Takes it back: the first call gets the content, all others null, as do wrong and expired ones. */
  async take<T>(
    kind: ChallengeKind,
    key: string,
    manager?: EntityManager,
  ): Promise<{ content: T; userId: number | null } | null> {
    const found = await this.look<T>(kind, key, manager);
    const id = sha256(`${kind}|${key}`);
    // the delete decides: of two at once one changes a row
    return found && (await this.db.run('DELETE FROM challenges WHERE id = ?', [id], manager)) ? found : null;
  }

  /** Looks at it, counting the look: null after `max` of them. For codes short enough to be guessed. */
  async try<T>(kind: ChallengeKind, key: string, max: number): Promise<T | null> {
    const counted = await this.db.run('UPDATE challenges SET tries = tries + 1 WHERE id = ? AND tries < ?', [
      sha256(`${kind}|${key}`),
      max,
    ]);
    return counted ? ((await this.look<T>(kind, key))?.content ?? null) : null;
  }

  /** Ends all open ones of a user and kind. */
  async drop(kind: ChallengeKind, userId: number, manager?: EntityManager): Promise<void> {
    await this.db.run('DELETE FROM challenges WHERE kind = ? AND user_id = ?', [kind, userId], manager);
  }

  /**
   * Ends whatever was begun by a user and waits to come back: mailed links and codes, sign-ins that wait for a code,
   * new passkeys, bindings.
   */
  async dropAll(manager: EntityManager, userId: number): Promise<void> {
    await this.db.run('DELETE FROM challenges WHERE user_id = ?', [userId], manager);
  }

  async prune(): Promise<void> {
    await this.db.run('DELETE FROM challenges WHERE expires_at < ?', [now()]);
  }

  /** Looks at it without using it up. */
  async look<T>(
    kind: ChallengeKind,
    key: string,
    manager?: EntityManager,
  ): Promise<{ content: T; userId: number | null } | null> {
    const row = await this.db.row<{ content: string; user_id: number | null }>(
      'SELECT content, user_id FROM challenges WHERE id = ? AND expires_at > ?',
      [sha256(`${kind}|${key}`), now()],
      manager,
    );
    return row ? { content: JSON.parse(this.box.decrypt(row.content, CONTEXT)) as T, userId: row.user_id } : null;
  }
}
