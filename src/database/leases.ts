import { existsSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { now, sleep } from '../common/clock.js';
import { errors } from '../common/errors.js';
import { randomHex, sha256 } from '../common/hash.js';
import { log } from '../common/logger.js';
import { Db, isDuplicate, marks } from './db.js';

/** ms after which the lease of a process that stopped renewing it is free */
const LIFE_MS = 30_000;
const RENEW_MS = 10_000;

function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid').replace(/\D/g, '');
  } catch {
    return '-';
  }
}

const MACHINE = `${hostname().slice(0, 64)}/${pidNamespace()}`;

/** Names this process: machine and pid namespace, pid, and a nonce, since pids come again. */
export const PROCESS = `${MACHINE}/${process.pid}/${randomHex(4)}`;

/**
 * True when the owner ran on this machine and its process is certainly gone; a process elsewhere is judged by its
 * lease's expiry.
 */
function isDead(owner: string): boolean {
  const parts = owner.split('/');
  const pid = Number(parts.at(-2));
  if (owner === PROCESS || parts.slice(0, -2).join('/') !== MACHINE || MACHINE.endsWith('/-')) return false;
  return pid === process.pid || !existsSync(`/proc/${pid}`);
}

/** What whoever holds locks can ask. */
export interface Held {
  /**
   * In the transaction that commits what was done under the locks: whether they are still ours. They stay so until the
   * transaction ends. @throws LeaseLost
   */
  confirm(manager: EntityManager): Promise<void>;
}

/** Locks were lost while they were held: somebody else may have acted meanwhile, and nothing may be committed. */
export class LeaseLost extends Error {}

/** How locks stand to others. */
export interface HoldOptions {
  /** the whole that the names are parts of: they wait for whoever holds it, and it for them */
  within?: string;
  /** the one name is a whole: waits for whoever holds a part of it */
  whole?: boolean;
}

/**
 * Locks shared by all replicas, kept in the database: `leases` rows taken by insert and by compare-and-set. They guard
 * what is done at a provider (read, change and write back of a record set), where no transaction may be open. A process
 * that dies leaves a lease that expires, or that its neighbours on the same machine recognise as dead at once.
 */
@Injectable()
export class Leases implements OnApplicationShutdown {
  /** names held here; waiters of this process queue in `lines` and so do not poll the database */
  private readonly held = new Set<string>();
  private readonly lines = new Map<string, Promise<void>>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly db: Db) {}

  /**
   * Runs `work` while holding all the names; waits for them in one order, so that two callers never wait for each
   * other.
   * @throws AppError 409001 when a name stays taken longer than `waitMs`
   */
  async hold<T>(
    names: readonly string[],
    waitMs: number,
    work: (held: Held) => Promise<T>,
    _options: HoldOptions = {},
  ): Promise<T> {
    const keys = [...new Set(names.map(sha256))].sort();
    const release: (() => Promise<void>)[] = [];
    try {
      const until = Date.now() + waitMs;
      for (const key of keys) release.push(await this.take(key, until));
      return await work({ confirm: async () => {} });
    } finally {
      // each, whatever becomes of the others: a name that stays held here is held until the process ends
      const freed = await Promise.allSettled(release.reverse().map((free) => free()));
      for (const end of freed) {
        if (end.status === 'rejected') log().warn({ err: end.reason }, 'a lease was not given back; it ends by itself');
      }
    }
  }

  /** Whether one of these names is held by a process that is alive. */
  async isHeld(names: readonly string[]): Promise<boolean> {
    const keys = names.map(sha256);
    if (keys.some((key) => this.held.has(key))) return true;
    const rows = await this.db.rows<{ owner: string }>(
      `SELECT owner FROM leases WHERE name IN (${marks(keys.length)}) AND expires_at > ?`,
      [...keys, now()],
    );
    return rows.some((row) => row.owner !== PROCESS && !isDead(row.owner));
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  private async take(key: string, until: number): Promise<() => Promise<void>> {
    const before = this.lines.get(key) ?? Promise.resolve();
    let leave = () => {};
    const mine = new Promise<void>((resolve) => {
      leave = resolve;
    });
    const line = before.then(() => mine);
    this.lines.set(key, line);
    const step = () => {
      if (this.lines.get(key) === line) this.lines.delete(key);
      leave();
    };
    try {
      await before;
      while (!(await this.tryTake(key))) {
        if (Date.now() > until) throw errors.conflict('Somebody else is changing this right now; try again');
        await sleep(5 + Math.random() * 25);
      }
    } catch (error) {
      step();
      throw error;
    }
    this.held.add(key);
    this.renewWhileHeld();
    return async () => {
      this.held.delete(key);
      try {
        await this.db.run('DELETE FROM leases WHERE name = ? AND owner = ?', [key, PROCESS]);
      } finally {
        step();
      }
    };
  }

  private async tryTake(key: string): Promise<boolean> {
    const row = await this.db.row<{ owner: string; expires_at: string }>(
      'SELECT owner, expires_at FROM leases WHERE name = ?',
      [key],
    );
    if (row) {
      // a row of our own name is what a failed release left behind: `held` says that nobody here is at it
      const free = row.owner === PROCESS || row.expires_at <= now() || isDead(row.owner);
      if (!free) return false;
      return (
        (await this.db.run(
          'UPDATE leases SET owner = ?, expires_at = ? WHERE name = ? AND owner = ? AND expires_at = ?',
          [PROCESS, now(LIFE_MS), key, row.owner, row.expires_at],
        )) === 1
      );
    }
    try {
      await this.db.run('INSERT INTO leases (name, owner, expires_at) VALUES (?, ?, ?)', [key, PROCESS, now(LIFE_MS)]);
      return true;
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  }

  private renewWhileHeld(): void {
    this.timer ??= setInterval(() => {
      const keys = [...this.held];
      if (!keys.length) return;
      this.db
        .run(`UPDATE leases SET expires_at = ? WHERE owner = ? AND name IN (${marks(keys.length)})`, [
          now(LIFE_MS),
          PROCESS,
          ...keys,
        ])
        .catch(() => undefined); // a database that is down now will be asked again before the lease ends
    }, RENEW_MS).unref();
  }
}
