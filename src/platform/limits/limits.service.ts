import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { now, timeMs } from '../common/clock.js';
import { sha256 } from '../common/hash.js';
import { Db, isDuplicate } from '../database/db.js';
import { type Counter, LimitsRepository, type Lock } from './limits.repository.js';

const DAY_MS = 86_400_000;

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

/** The key of a counter: a kind and a network, and a login name where each name is counted by itself. */
export interface Counted {
  kind: string;
  network: string;
  /** lower case */
  username?: string;
}

const keyOf = ({ kind, network, username }: Counted) => sha256(JSON.stringify([kind, network, username ?? null]));

/**
 * Counters in the database, the same for all replicas. Every failure to count is a failure of the request: limits fail
 * closed.
 */
@Injectable()
export class LimitsService {
  constructor(
    private readonly db: Db,
    private readonly limits: LimitsRepository,
  ) {}

  /** Seconds for which it is blocked, 0 when it is not. */
  async blockedFor(counted: Counted): Promise<number> {
    return secondsUntil(await this.limits.blockedUntil(keyOf(counted)));
  }

  /**
   * Counts one event before it is let through, so that parallel events cannot slip under the limit together.
   * @returns seconds to wait when the event is over the limit, else 0
   */
  hit(counted: Counted, rule: LimitRule): Promise<number> {
    return this.db
      .transaction((manager) => this.count(counted, rule, manager))
      .catch((error) => {
        // another request inserted the counter at the same moment
        if (isDuplicate(error)) return this.hit(counted, rule);
        throw error;
      });
  }

  private async count(counted: Counted, rule: LimitRule, manager: EntityManager): Promise<number> {
    const name = keyOf(counted);
    if (!(await this.limits.increment(name, manager))) {
      const username = counted.username?.slice(0, 64) ?? null;
      const network = counted.network.slice(0, 64);
      await this.limits.insert({ name, window_start: now(), username, network }, manager);
      return 0;
    }
    const counter = await this.limits.get(name, manager);
    const blocked = secondsUntil(counter.blocked_until);
    if (blocked > 0) return blocked;
    if (counter.blocked_until || counter.window_start < now(-rule.windowS * 1000)) {
      // blocks in a row are forgotten after a quiet day
      const calm = counter.window_start < now(-DAY_MS);
      await this.limits.startWindow(name, now(), calm ? 0 : counter.blocks, manager);
      return 0;
    }
    return counter.hits > rule.max ? this.block(name, counter, rule, manager) : 0;
  }

  /**
   * Reports that an event that was counted before failed: the failure that fills the window blocks at once.
   * @returns seconds of the block that began with it, else 0
   */
  failed(counted: Counted, rule: LimitRule): Promise<number> {
    const name = keyOf(counted);
    return this.db.transaction(async (manager) => {
      // locks the row, so that of two failures at once one begins the block
      if (!(await this.limits.lock(name, manager))) return 0;
      const counter = await this.limits.get(name, manager);
      return counter.hits < rule.max || counter.blocked_until ? 0 : this.block(name, counter, rule, manager);
    });
  }

  /** Takes an event back that is not to be counted after all. */
  async forgive(counted: Counted): Promise<void> {
    await this.limits.decrement(keyOf(counted));
  }

  /** Forgets the events, for example after a good login. */
  async clear(counted: Counted): Promise<void> {
    await this.limits.remove(keyOf(counted));
  }

  /** Forgets all that is counted of a name, in all networks. @returns how many locks it had */
  async unlock(username: string, manager?: EntityManager): Promise<number> {
    const name = username.toLowerCase();
    const locked = await this.limits.countBlocksOfUser(name, now(), manager);
    await this.limits.removeOfUser(name, manager);
    return locked;
  }

  /** Names that are locked now, the newest lock first; at most 100. */
  locks(): Promise<Lock[]> {
    return this.limits.blockedUsers(now());
  }

  /** Removes counters that no longer matter: quiet for two days, and not blocked. */
  async prune(): Promise<void> {
    await this.limits.removeQuietSince(now(-2 * DAY_MS));
  }

  private async block(name: string, { blocks }: Counter, rule: LimitRule, manager: EntityManager): Promise<number> {
    const seconds = Math.min(rule.blockS * 2 ** Math.min(blocks, 20), rule.maxBlockS);
    await this.limits.block(name, now(seconds * 1000), manager);
    return seconds;
  }
}

const secondsUntil = (time: string | null): number =>
  time ? Math.max(0, Math.ceil((Date.parse(time) - timeMs()) / 1000)) : 0;
