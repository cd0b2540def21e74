import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { now, timeMs } from '../common/clock.js';
import { sha256 } from '../common/hash.js';
import { Db, isDuplicate } from '../database/db.js';

/**
 * `max` events inside `windowS` seconds block for `blockS` seconds, doubling with each block in a row up to
 * `maxBlockS`.
 */
export interface LimitRule {
  max: number;
  windowS: number;
  blockS: number;
  maxBlockS: number;
}

/** What is counted: `kind` and `network`, of one login name or of all. */
export interface Counted {
  kind: string;
  network: string;
  /** lower case */
  username?: string;
}

/** A name that is locked in a network. */
export interface Lock {
  username: string;
  network: string;
  locked_until: string;
}

interface Row {
  hits: number;
  window_start: string;
  blocked_until: string | null;
  blocks: number;
}

const keyOf = ({ kind, network, username }: Counted) => sha256(JSON.stringify([kind, network, username ?? null]));

/**
 * Counters in the database, the same for all replicas. Every failure to count is a failure of the request: limits fail
 * closed.
 */
@Injectable()
export class LimitsService {
  constructor(private readonly db: Db) {}

  /** Seconds for which it is blocked, 0 when it is not. */
  async blockedFor(counted: Counted): Promise<number> {
    const row = await this.db.row<Row>('SELECT blocked_until FROM limits WHERE name = ?', [keyOf(counted)]);
    return row ? secondsUntil(row.blocked_until) : 0;
  }

  /**
   * Counts one event before it is let through, so that parallel events cannot slip under the limit together.
   * @returns seconds to wait when the event is over the limit, else 0
   */
  hit(counted: Counted, rule: LimitRule): Promise<number> {
    const name = keyOf(counted);
    return this.db
      .transaction(async (manager) => {
        const changed = await this.db.run('UPDATE limits SET hits = hits + 1 WHERE name = ?', [name], manager);
        if (!changed) {
          await this.db.run(
            `INSERT INTO limits (name, hits, window_start, blocked_until, blocks, username, network)
             VALUES (?, 1, ?, NULL, 0, ?, ?)`,
            [name, now(), counted.username?.slice(0, 64) ?? null, counted.network.slice(0, 64)],
            manager,
          );
          return 0;
        }
        const row = await this.read(name, manager);
        const blocked = secondsUntil(row.blocked_until);
        if (blocked > 0) return blocked;
        if (row.blocked_until || row.window_start < now(-rule.windowS * 1000)) {
          // a new window; blocks in a row are forgotten after a quiet day
          const calm = row.window_start < now(-86_400_000);
          await this.db.run(
            'UPDATE limits SET hits = 1, window_start = ?, blocked_until = NULL, blocks = ? WHERE name = ?',
            [now(), calm ? 0 : row.blocks, name],
            manager,
          );
          return 0;
        }
        return row.hits > rule.max ? this.blockNow(name, row, rule, manager) : 0;
      })
      .catch((error) => {
        if (isDuplicate(error)) return this.hit(counted, rule); // somebody else made the row at the same moment
        throw error;
      });
  }

  /**
   * Says that an event that was counted before was a failure: the one that fills the window blocks at once.
   * @returns seconds of the block that began with it, else 0
   */
  failed(counted: Counted, rule: LimitRule): Promise<number> {
    const name = keyOf(counted);
    return this.db.transaction(async (manager) => {
      // locks the row, so that of two failures at once one begins the block
      if (!(await this.db.lock(manager, 'limits', { name }))) return 0;
      const row = await this.read(name, manager);
      return row.hits < rule.max || row.blocked_until ? 0 : this.blockNow(name, row, rule, manager);
    });
  }

  /** Takes an event back that turned out to be none. */
  async forgive(counted: Counted): Promise<void> {
    await this.db.run('UPDATE limits SET hits = hits - 1 WHERE name = ? AND hits > 0 AND blocked_until IS NULL', [
      keyOf(counted),
    ]);
  }

  /** Forgets the events, for example after a good login. */
  async clear(counted: Counted): Promise<void> {
    await this.db.run('DELETE FROM limits WHERE name = ?', [keyOf(counted)]);
  }

  /** Forgets all that is counted of a name, in all networks. @returns how many locks it had */
  async unlock(username: string, manager?: EntityManager): Promise<number> {
    const name = username.toLowerCase();
    const locked = await this.db.rows(
      'SELECT name FROM limits WHERE username = ? AND blocked_until > ?',
      [name, now()],
      manager,
    );
    await this.db.run('DELETE FROM limits WHERE username = ?', [name], manager);
    return locked.length;
  }

  /** Names that are locked now, the newest lock first; at most 100. */
  locks(): Promise<Lock[]> {
    return this.db.rows<Lock>(
      `SELECT username, network, blocked_until AS locked_until FROM limits
        WHERE blocked_until > ? AND username IS NOT NULL ORDER BY blocked_until DESC LIMIT 100`,
      [now()],
    );
  }

  /** Drops counters that say nothing any more: quiet for two days, and not blocked. */
  async prune(): Promise<void> {
    await this.db.run('DELETE FROM limits WHERE window_start < ? AND (blocked_until IS NULL OR blocked_until < ?)', [
      now(-2 * 86_400_000),
      now(-2 * 86_400_000),
    ]);
  }

  private async read(name: string, manager: EntityManager): Promise<Row> {
    const sql = 'SELECT hits, window_start, blocked_until, blocks FROM limits WHERE name = ?';
    return (await this.db.row<Row>(sql, [name], manager)) as Row;
  }

  private async blockNow(name: string, { blocks }: Row, rule: LimitRule, manager: EntityManager): Promise<number> {
    const seconds = Math.min(rule.blockS * 2 ** Math.min(blocks, 20), rule.maxBlockS);
    await this.db.run(
      'UPDATE limits SET blocked_until = ?, blocks = blocks + 1 WHERE name = ?',
      [now(seconds * 1000), name],
      manager,
    );
    return seconds;
  }
}

const secondsUntil = (time: string | null): number =>
  time ? Math.max(0, Math.ceil((Date.parse(time) - timeMs()) / 1000)) : 0;
