import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Db } from '../database/db.js';
import type { Limit } from './limit.entity.js';

/** A counter as decisions need it. */
export type Counter = Pick<Limit, 'hits' | 'window_start' | 'blocked_until' | 'blocks'>;

/** A name that is locked in a network. */
export interface Lock {
  username: string;
  network: string;
  locked_until: string;
}

/** The table `limits`. */
@Injectable()
export class LimitsRepository {
  constructor(private readonly db: Db) {}

  /** The end of a counter's newest block, which may be over; null: it has none, or there is no such counter. */
  async blockedUntil(name: string): Promise<string | null> {
    const sql = 'SELECT blocked_until FROM limits WHERE name = ?';
    return (await this.db.row<Pick<Counter, 'blocked_until'>>(sql, [name]))?.blocked_until ?? null;
  }

  /** A counter that exists. */
  async get(name: string, manager?: EntityManager): Promise<Counter> {
    const sql = 'SELECT hits, window_start, blocked_until, blocks FROM limits WHERE name = ?';
    return (await this.db.row<Counter>(sql, [name], manager)) as Counter;
  }

  /** Locks a counter until the transaction ends. @returns whether it exists */
  lock(name: string, manager: EntityManager): Promise<boolean> {
    return this.db.lock(manager, 'limits', { name });
  }

  /** Inserts a counter with its first hit. */
  async insert(
    { name, window_start, username, network }: Pick<Limit, 'name' | 'window_start' | 'username' | 'network'>,
    manager?: EntityManager,
  ): Promise<void> {
    await this.db.run(
      `INSERT INTO limits (name, hits, window_start, blocked_until, blocks, username, network)
       VALUES (?, 1, ?, NULL, 0, ?, ?)`,
      [name, window_start, username, network],
      manager,
    );
  }

  /** Adds one hit. @returns whether the counter exists */
  async increment(name: string, manager?: EntityManager): Promise<boolean> {
    return (await this.db.run('UPDATE limits SET hits = hits + 1 WHERE name = ?', [name], manager)) > 0;
  }

  /** Takes one hit back, unless the counter is blocked. */
  async decrement(name: string): Promise<void> {
    const sql = 'UPDATE limits SET hits = hits - 1 WHERE name = ? AND hits > 0 AND blocked_until IS NULL';
    await this.db.run(sql, [name]);
  }

  /** Starts a new window with its first hit. */
  async startWindow(name: string, start: string, blocks: number, manager?: EntityManager): Promise<void> {
    await this.db.run(
      'UPDATE limits SET hits = 1, window_start = ?, blocked_until = NULL, blocks = ? WHERE name = ?',
      [start, blocks, name],
      manager,
    );
  }

  /** Blocks a counter, once more in a row. */
  async block(name: string, until: string, manager?: EntityManager): Promise<void> {
    const sql = 'UPDATE limits SET blocked_until = ?, blocks = blocks + 1 WHERE name = ?';
    await this.db.run(sql, [until, name], manager);
  }

  async remove(name: string): Promise<void> {
    await this.db.run('DELETE FROM limits WHERE name = ?', [name]);
  }

  /** Removes the counters of a login name in all networks. */
  async removeOfUser(username: string, manager?: EntityManager): Promise<void> {
    await this.db.run('DELETE FROM limits WHERE username = ?', [username], manager);
  }

  /** In how many networks a login name is blocked at a moment. */
  async countBlocksOfUser(username: string, at: string, manager?: EntityManager): Promise<number> {
    const sql = 'SELECT name FROM limits WHERE username = ? AND blocked_until > ?';
    return (await this.db.rows(sql, [username, at], manager)).length;
  }

  /** Login names that are blocked at a moment, the newest block first; at most 100. */
  blockedUsers(at: string): Promise<Lock[]> {
    return this.db.rows<Lock>(
      `SELECT username, network, blocked_until AS locked_until FROM limits
        WHERE blocked_until > ? AND username IS NOT NULL ORDER BY blocked_until DESC LIMIT 100`,
      [at],
    );
  }

  /** Removes the counters whose window and block both lie before a moment. */
  async removeQuietSince(time: string): Promise<void> {
    const sql = 'DELETE FROM limits WHERE window_start < ? AND (blocked_until IS NULL OR blocked_until < ?)';
    await this.db.run(sql, [time, time]);
  }
}
