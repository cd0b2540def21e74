import { Injectable } from '@nestjs/common';
import { now } from '../common/clock.js';
import { sha256 } from '../common/hash.js';
import { Db, isDuplicate } from '../database/db.js';

/** `max` events inside `windowS` seconds; one more blocks for `blockS` seconds, doubling with each block in a row up to `maxBlockS`. */
export interface LimitRule {
  max: number;
  windowS: number;
  blockS: number;
  maxBlockS: number;
}

interface Row {
  hits: number;
  window_start: string;
  blocked_until: string | null;
  blocks: number;
}

/** Counters in the database, the same for all replicas. Every failure to count is a failure of the request: limits fail closed. */
@Injectable()
export class LimitsService {
  constructor(private readonly db: Db) {}

  /** Seconds for which `key` is blocked, 0 when it is not. */
  async blockedFor(key: string): Promise<number> {
    const row = await this.db.row<Row>('SELECT blocked_until FROM limits WHERE name = ?', [sha256(key)]);
    return row ? secondsUntil(row.blocked_until) : 0;
  }

  /**
   * Counts one event before it is let through, so that parallel events cannot slip under the limit together.
   * @param label for people, at most 255 characters
   * @returns seconds to wait when the event is over the limit, else 0
   */
  async hit(key: string, rule: LimitRule, label: string): Promise<number> {
    const name = sha256(key);
    return this.db
      .transaction(async (manager) => {
        const changed = await this.db.run('UPDATE limits SET hits = hits + 1 WHERE name = ?', [name], manager);
        if (!changed) {
          await this.db.run(
            'INSERT INTO limits (name, hits, window_start, blocked_until, blocks, label) VALUES (?, 1, ?, NULL, 0, ?)',
            [name, now(), label.slice(0, 255)],
            manager,
          );
          return 0;
        }
        const row = (await this.db.row<Row>(
          'SELECT hits, window_start, blocked_until, blocks FROM limits WHERE name = ?',
          [name],
          manager,
        )) as Row;
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
        if (row.hits <= rule.max) return 0;
        const seconds = Math.min(rule.blockS * 2 ** Math.min(row.blocks, 20), rule.maxBlockS);
        await this.db.run(
          'UPDATE limits SET blocked_until = ?, blocks = blocks + 1 WHERE name = ?',
          [now(seconds * 1000), name],
          manager,
        );
        return seconds;
      })
      .catch((error) => {
        if (isDuplicate(error)) return this.hit(key, rule, label); // somebody else made the row at the same moment
        throw error;
      });
  }

  /** Forgets the events of a key, for example after a good login. */
  async clear(key: string): Promise<void> {
    await this.db.run('DELETE FROM limits WHERE name = ?', [sha256(key)]);
  }
}

const secondsUntil = (time: string | null): number =>
  time ? Math.max(0, Math.ceil((Date.parse(time) - Date.now()) / 1000)) : 0;
