import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { now, sleep } from '../common/clock.js';
import { errors } from '../common/errors.js';
import { sha256 } from '../common/hash.js';
import { log } from '../common/logger.js';
import { Db, isDuplicate, marks } from './db.js';
import { Lines } from './lines.js';
import { HOLDINGS, isGone, newHolding } from './process-name.js';
import { BRIEF } from './sqlite.js';

export { PROCESS } from './process-name.js';

/** ms after which the lease of a process that stopped renewing it is free */
const LIFE_MS = 30_000;
const RENEW_MS = 10_000;
/** ms between two looks at locks that another process has: the first, and the longest */
const LOOK_MS = 20;
const MAX_LOOK_MS = 100;

/** What whoever holds locks can ask. */
export interface Held {
  /**
   * In the transaction that commits what was done under the locks: whether they are still ours. They stay so until the
   * transaction ends. Best its first statement: then whoever waits for it has no rows that others want.
   * @throws LeaseLost
   */
  confirm(manager: EntityManager): Promise<void>;
  /**
   * The same in the transaction behind which nothing more is done under them: it also gives them back.
   * @throws LeaseLost
   */
  release(manager: EntityManager): Promise<void>;
}

/** Locks were lost while they were held: somebody else may have acted meanwhile, and nothing may be committed. */
export class LeaseLost extends Error {}
const LOST = 'the locks were lost while they were held';

/** How locks stand to others. */
export interface HoldOptions {
  /** the whole that the names are parts of: they wait for whoever holds it, and it for them */
  within?: string;
  /** the one name is a whole: waits for whoever holds a part of it */
  whole?: boolean;
}

/** One call of `hold`. */
interface Holding {
  /** names it in all its rows, and no other */
  owner: string;
  /** hashes, sorted */
  keys: string[];
  /** hash of the whole that they are parts of */
  scope: string | null;
  whole: boolean;
}

interface Row {
  name: string;
  owner: string;
  expires_at: string;
}

const isFree = (row: Row): boolean => row.expires_at <= now() || isGone(row.owner);
const taken = () => errors.conflict('Somebody else is changing this right now; try again');

/**
 * Locks shared by all replicas, kept in the database: `leases` rows. They guard what is done at a provider (read,
 * change and write back of a record set), where no transaction may be open. A process that dies leaves a lease that
 * expires, or that its neighbours on the same machine recognise as dead at once; a row of theirs is deleted, never
 * taken over, and one that has expired is never renewed: whoever had it finds it gone when he confirms.
 *
 * Parts and their whole: each side inserts its rows first and then looks for the other's, so that of two at once at
 * least one sees the other. A part gives way, the whole waits.
 */
@Injectable()
export class Leases {
  /** waiters of this process queue here and do not poll the database */
  private readonly lines = new Lines();

  constructor(private readonly db: Db) {}

  /**
   * Runs `work` while holding all the names; waits for them in one order, so that two callers never wait for each
   * other. Whoever holds a part or a whole must not ask for the other inside.
   * @throws AppError 409001 when a name stays taken longer than `waitMs`
   */
  async hold<T>(
    names: readonly string[],
    waitMs: number,
    work: (held: Held) => Promise<T>,
    { within, whole = false }: HoldOptions = {},
  ): Promise<T> {
    const until = Date.now() + waitMs;
    const keys = [...new Set(names.map(sha256))].sort();
    if (!keys.length) return work({ confirm: async () => {}, release: async () => {} });
    const entered: string[] = [];
    try {
      for (const key of keys) {
        if (!(await this.lines.enter(key, until))) throw taken();
        entered.push(key);
      }
      return await this.holding(
        { owner: newHolding(), keys, scope: within ? sha256(within) : null, whole },
        until,
        work,
      );
    } finally {
      for (const key of entered) this.lines.leave(key);
    }
  }

  /** Whether one of these names, the whole that they are in or a part of them is held by a process that is alive. */
  async isHeld(names: readonly string[], { within, whole }: HoldOptions = {}): Promise<boolean> {
    const keys = [...names, ...(within ? [within] : [])].map(sha256);
    if (!keys.length) return false;
    const parts = whole ? ` OR scope IN (${marks(keys.length)})` : '';
    const rows = await this.db.rows<Row>(
      `SELECT name, owner, expires_at FROM leases WHERE name IN (${marks(keys.length)})${parts}`,
      whole ? [...keys, ...keys] : keys,
    );
    return rows.some((row) => !isFree(row));
  }

  private async holding<T>(holding: Holding, until: number, work: (held: Held) => Promise<T>): Promise<T> {
    // a database that is down now will be asked again before the lease ends
    const timer = setInterval(() => void this.renew(holding).catch(() => undefined), RENEW_MS).unref();
    const confirm = async (manager: EntityManager) => {
      // an update, since it locks the rows on every kind of database
      if (!(await this.renew(holding, manager))) throw new LeaseLost(LOST);
    };
    let released = false;
    const release = async (manager: EntityManager) => {
      const ours = `DELETE FROM leases WHERE owner = ? AND expires_at > ? AND name IN (${marks(holding.keys.length)})`;
      const gone = await this.db.run(ours, [holding.owner, now(), ...holding.keys], manager);
      if (gone !== holding.keys.length) throw new LeaseLost(LOST);
      this.db.afterCommit(manager, () => {
        released = true;
      });
    };
    try {
      await this.take(holding, until);
      return await work({ confirm, release });
    } finally {
      clearInterval(timer);
      if (!released)
        await this.giveBack(holding).catch((err) =>
          log().warn({ err }, 'a lease was not given back; it ends by itself'),
        );
      HOLDINGS.delete(holding.owner);
    }
  }

  private async take(holding: Holding, until: number): Promise<void> {
    const { keys, scope, whole } = holding;
    // those before it are ours: who waits for a name has none that comes after it, so nobody waits in a circle
    let next = 0;
    // the first time without a look, since nearly always all is free
    for (let looks = 0; ; looks++) {
      const { free, way } = looks ? await this.look(keys.slice(next), scope) : { free: keys.length, way: true };
      if (!way && next) {
        await this.giveBack(holding);
        next = 0;
      }
      const more = keys.slice(next, way ? next + free : next);
      if (more.length && (await this.insert(holding, more))) next += more.length;
      if (next === keys.length && !(await this.opposed(holding))) {
        // what was taken before a long wait may be lost again
        if (!looks || (await this.renew(holding))) return;
        await this.giveBack(holding);
        next = 0;
      }
      if (!looks) continue;
      if (!whole && next === keys.length) {
        await this.giveBack(holding);
        next = 0;
      }
      // not in the line of the whole while it may wait for what is taken here
      await this.pause(looks, until, next ? null : scope);
    }
  }

  /** How many of the names are free, from the first on, and whether nobody holds their whole. */
  private async look(keys: string[], scope: string | null): Promise<{ free: number; way: boolean }> {
    const names = scope ? [...keys, scope] : keys;
    const held = names.length ? await this.held(`name IN (${marks(names.length)})`, names) : new Set();
    const first = keys.findIndex((key) => held.has(key));
    return { free: first < 0 ? keys.length : first, way: !held.has(scope) };
  }

  /** Whether somebody holds the whole that these are parts of, or a part of this whole. */
  private async opposed({ keys, scope, whole }: Holding): Promise<boolean> {
    if (whole) return (await this.held('scope = ?', keys)).size > 0;
    return scope !== null && (await this.held('name = ?', [scope])).size > 0;
  }

  /** Names that are held, of the rows that are asked for; those of the dead are deleted. */
  private async held(where: string, values: string[]): Promise<Set<string | null>> {
    const rows = await this.db.rows<Row>(`SELECT name, owner, expires_at FROM leases WHERE ${where}`, values);
    const free = rows.filter(isFree);
    // as they were seen: somebody may have renewed or taken one since, and then all count as held until the next look
    const gone = free.length
      ? await this.db.run(
          `DELETE FROM leases WHERE ${free.map(() => '(name = ? AND owner = ? AND expires_at = ?)').join(' OR ')}`,
          free.flatMap((row) => [row.name, row.owner, row.expires_at]),
        )
      : 0;
    return new Set(rows.filter((row) => gone < free.length || !free.includes(row)).map((row) => row.name));
  }

  /** @returns false, and none is taken, when somebody has one of them */
  private async insert({ owner, scope }: Holding, keys: string[]): Promise<boolean> {
    const expires = now(LIFE_MS);
    try {
      await this.db.run(
        `INSERT INTO leases (name, owner, expires_at, scope) VALUES ${keys.map(() => '(?, ?, ?, ?)').join(', ')}${BRIEF}`,
        keys.flatMap((key) => [key, owner, expires, scope]),
      );
      return true;
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  }

  /** @returns whether all of them were still ours; one that has expired is not */
  private async renew({ owner, keys }: Holding, manager?: EntityManager): Promise<boolean> {
    const renewed = await this.db.run(
      `UPDATE leases SET expires_at = ? WHERE owner = ? AND expires_at > ? AND name IN (${marks(keys.length)})`,
      [now(LIFE_MS), owner, now(), ...keys],
      manager,
    );
    return renewed === keys.length;
  }

  private async giveBack({ owner, keys }: Holding): Promise<void> {
    const sql = `DELETE FROM leases WHERE name IN (${marks(keys.length)}) AND owner = ?${BRIEF}`;
    await this.db.run(sql, [...keys, owner]);
  }

  /** @throws AppError 409001 when it is `until` */
  private async pause(looks: number, until: number, scope: string | null): Promise<void> {
    const left = until - Date.now();
    if (left <= 0) throw taken();
    // a whole that this process holds, or wants, is waited for here
    if (scope && this.lines.has(scope)) {
      if (await this.lines.enter(scope, until)) this.lines.leave(scope);
      else throw taken();
      return;
    }
    const most = Math.min(LOOK_MS * looks, MAX_LOOK_MS);
    await sleep(Math.min(left, (0.25 + 0.75 * Math.random()) * most));
  }
}
