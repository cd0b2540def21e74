import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { every, hasJumped, MAX_CLOCK_OFFSET_MS, monotonicMs, now, sleep, wallMs } from '../common/clock.js';
import { requestDeadline } from '../common/deadline.js';
import { AppError, errors } from '../common/errors.js';
import { sha256 } from '../common/hash.js';
import { Logger } from '../common/logger.js';
import { DatabaseClock } from './clock.js';
import { Db, isDuplicate, marks } from './db.js';
import { KeyedMutex } from './keyed-mutex.js';
import { HOLDINGS, isGone, newHolding, PROCESS } from './process-name.js';
import { BRIEF } from './sqlite.js';

export { isHolding, PROCESS } from './process-name.js';

/** ms after which the lease of a process that stopped renewing it is free */
const LIFE_MS = 30_000;
const RENEW_MS = 10_000;
/** ms before its end that a lease counts as over for whoever has it: what is begun then has to get out */
const MARGIN_MS = 5_000;
/** ms between two looks at locks that another process has: the first, and the longest */
const LOOK_MS = 20;
const MAX_LOOK_MS = 100;

/** What whoever holds locks can ask. */
export interface Held {
  /** the name of this very holding in the rows of its locks */
  owner: string;
  /**
   * ms of `monotonicMs()` until which the locks are ours by the last renewal that the database has confirmed,
   * counted from before it was sent, by whichever clock of the machine has gone further. A process that was paused, or
   * lost its database, must not begin anything elsewhere after that.
   */
  heldUntil(): number;
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
export class LeaseLost extends AppError {
  constructor() {
    const { status, code, message, data } = errors.notReady('locks_lost', 1);
    super(status, code, message, data, 1);
  }
}

/** How locks stand to others. */
export interface HoldOptions {
  /** the whole that the names are parts of: they wait for whoever holds it, and it for them */
  within?: string;
  /** the one name is a whole: waits for whoever holds a part of it */
  whole?: boolean;
}

/** A moment by both clocks of a machine: the monotonic one stands still while it sleeps, the other one can be set. */
interface Moment {
  mono: number;
  wall: number;
}
const moment = (): Moment => ({ mono: monotonicMs(), wall: wallMs() });
const later = ({ mono, wall }: Moment, ms: number): Moment => ({ mono: mono + ms, wall: wall + ms });
const at = (time: number): Moment => ({ mono: time, wall: time });

/** One call of `hold`. */
interface Holding {
  /** names it in all its rows, and no other */
  owner: string;
  /** hashes, sorted */
  keys: string[];
  /** hash of the whole that they are parts of */
  scope: string | null;
  whole: boolean;
  /** see `Held.heldUntil` */
  until: Moment;
}

interface Row {
  name: string;
  owner: string;
  expires_at: string;
}

/** What is held by whoever asks for no lock at all. */
const NOTHING: Held = {
  owner: PROCESS,
  heldUntil: () => Number.POSITIVE_INFINITY,
  confirm: async () => {},
  release: async () => {},
};

/** One that lasts longer than locks do was taken by a wrong clock. */
const isFree = (row: Row): boolean =>
  row.expires_at <= now() || row.expires_at > now(LIFE_MS + MAX_CLOCK_OFFSET_MS) || isGone(row.owner);
/** @param until when who waited went away: with the time of its request, or before */
const taken = (until: number) => (until >= requestDeadline().work ? errors.overdue() : errors.conflict('busy'));

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
  private readonly lines = new KeyedMutex();

  constructor(
    private readonly db: Db,
    private readonly logger: Logger,
  ) {}

  /**
   * Runs `work` while holding all the names; waits for them in one order, so that two callers never wait for each
   * other. Whoever holds a part or a whole must not ask for the other inside.
   * @throws AppError 409001 when a name stays taken longer than `waitMs`, 500002 when the request's time ends before
   */
  async hold<T>(
    names: readonly string[],
    waitMs: number,
    work: (held: Held) => Promise<T>,
    { within, whole = false }: HoldOptions = {},
  ): Promise<T> {
    const until = Math.min(monotonicMs() + waitMs, requestDeadline().work);
    const keys = [...new Set(names.map(sha256))].sort();
    if (!keys.length) return work(NOTHING);
    const entered: string[] = [];
    try {
      for (const key of keys) {
        if (!(await this.lines.enter(key, until))) throw taken(until);
        entered.push(key);
      }
      return await this.holding(
        { owner: newHolding(), keys, scope: within ? sha256(within) : null, whole, until: at(0) },
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

  /** Whether this very holding still has a lock, of a process that is alive. */
  async isHolding(owner: string): Promise<boolean> {
    const rows = await this.db.rows<Row>('SELECT name, owner, expires_at FROM leases WHERE owner = ?', [owner]);
    return rows.some((row) => !isFree(row));
  }

  private async holding<T>(holding: Holding, until: number, work: (held: Held) => Promise<T>): Promise<T> {
    // a database that is down now will be asked again before the lease ends
    const stopRenewal = every(RENEW_MS, () => void this.renew(holding).catch(() => undefined));
    const confirm = async (manager: EntityManager) => {
      // an update, since it locks the rows on every kind of database
      if (!(await this.renew(holding, manager))) throw new LeaseLost();
    };
    let released = false;
    const release = async (manager: EntityManager) => {
      const ours = `DELETE FROM leases WHERE owner = ? AND expires_at > ? AND name IN (${marks(holding.keys.length)})`;
      const gone = await this.db.run(ours, [holding.owner, now(), ...holding.keys], manager);
      if (gone !== holding.keys.length) throw new LeaseLost();
      this.db.afterCommit(manager, () => {
        released = true;
      });
    };
    try {
      // what the database would take for over would be taken away at once
      if (hasJumped()) await new DatabaseClock(this.db.source).look();
      await this.take(holding, until);
      const heldUntil = () => Math.min(holding.until.mono, monotonicMs() + holding.until.wall - wallMs());
      return await work({ owner: holding.owner, heldUntil, confirm, release });
    } finally {
      // what was begun under the locks and goes on behind them is under none
      holding.until = at(Number.POSITIVE_INFINITY);
      stopRenewal();
      if (!released)
        await this.giveBack(holding).catch((err) =>
          this.logger.warn({ err }, 'a lease was not given back; it ends by itself'),
        );
      HOLDINGS.delete(holding.owner);
    }
  }

  private async take(holding: Holding, until: number): Promise<void> {
    const { keys, scope, whole } = holding;
    const begun = moment();
    // the first time without a look, since nearly always all is free; those that are ours come before all others:
    // a waiter for a name holds none that sorts after it, so there is no deadlock
    let ours = await this.insert(holding, keys);
    if (ours && !(await this.opposed(holding))) {
      holding.until = later(begun, LIFE_MS - MARGIN_MS);
      return;
    }
    for (let looks = 1; ; looks++) {
      ours = await this.takeFree(holding, ours);
      if (ours === keys.length) {
        const opposed = await this.opposed(holding);
        // what was taken before a long wait may be lost again
        if (!opposed && (await this.renew(holding))) return;
        if (!opposed || !whole) {
          await this.giveBack(holding);
          ours = 0;
        }
      }
      // not in the line of the whole while it may wait for what is taken here
      await this.pause(looks, until, ours ? null : scope);
    }
  }

  /**
   * Takes what is free behind those that are ours, or gives them back while somebody has the whole.
   * @returns how many are ours then
   */
  private async takeFree(holding: Holding, ours: number): Promise<number> {
    const { free, way } = await this.look(holding.keys.slice(ours), holding.scope);
    if (!way) {
      if (ours) await this.giveBack(holding);
      return 0;
    }
    const more = holding.keys.slice(ours, ours + free);
    return more.length ? ours + (await this.insert(holding, more)) : ours;
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

  /** @returns how many were taken: none, when somebody has one of them */
  private async insert({ owner, scope }: Holding, keys: string[]): Promise<number> {
    const expires = now(LIFE_MS);
    try {
      await this.db.run(
        `INSERT INTO leases (name, owner, expires_at, scope) VALUES ${keys.map(() => '(?, ?, ?, ?)').join(', ')}${BRIEF}`,
        keys.flatMap((key) => [key, owner, expires, scope]),
      );
      return keys.length;
    } catch (error) {
      if (isDuplicate(error)) return 0;
      throw error;
    }
  }

  /** @returns whether all of them were still ours; one that has expired is not */
  private async renew(holding: Holding, manager?: EntityManager): Promise<boolean> {
    const { owner, keys } = holding;
    const begun = moment();
    const renewed = await this.db.run(
      `UPDATE leases SET expires_at = ? WHERE owner = ? AND expires_at > ? AND name IN (${marks(keys.length)})`,
      [now(LIFE_MS), owner, now(), ...keys],
      manager,
    );
    const ours = renewed === keys.length;
    if (!ours) holding.until = at(Number.NEGATIVE_INFINITY);
    else
      this.db.afterCommit(manager, () => {
        const until = later(begun, LIFE_MS - MARGIN_MS);
        if (until.mono > holding.until.mono) holding.until = until;
      });
    return ours;
  }

  private async giveBack({ owner, keys }: Holding): Promise<void> {
    const sql = `DELETE FROM leases WHERE name IN (${marks(keys.length)}) AND owner = ?${BRIEF}`;
    await this.db.run(sql, [...keys, owner]);
  }

  /** @throws AppError 409001 or 500002 when it is `until` */
  private async pause(looks: number, until: number, scope: string | null): Promise<void> {
    const left = until - monotonicMs();
    if (left <= 0) throw taken(until);
    // a whole that this process holds, or wants, is waited for here
    if (scope && this.lines.has(scope)) {
      if (await this.lines.enter(scope, until)) this.lines.leave(scope);
      else throw taken(until);
      return;
    }
    const most = Math.min(LOOK_MS * looks, MAX_LOOK_MS);
    await sleep(Math.min(left, (0.25 + 0.75 * Math.random()) * most));
  }
}
