import { AsyncLocalStorage } from 'node:async_hooks';
import { after, type Cancel, monotonicMs } from './clock.js';
import { errors } from './errors.js';
import { type Bounds, POOLS, type PoolName } from './pools.js';

/** Owner of a slot: a user id or a substitute for one; null: nobody. */
export type Owner = number | string | null;

/** User and target that a slot is requested for. */
export interface Share {
  /** Omitted: the user of the surrounding work. */
  user?: Owner;
  /** A domain, account or server; omitted: the pool has no targets. */
  target?: string | number;
}

/** A request waiting for a slot. */
interface Waiter {
  user: Owner;
  target: string;
  begin: () => void;
}

/** Slots and waiters of one user. */
interface Own {
  inUse: number;
  waiting: number;
  /** Waiters by target, in order of arrival. */
  lines: Map<string, Set<Waiter>>;
  /** Slots in use, by target. */
  at: Map<string, number>;
}

/** Slots in use at one target. */
interface At {
  inUse: number;
  /** Start times of the latest work in ms of `monotonicMs()`, where the rate is limited. */
  begun: number[];
}

const nothing = (): Own => ({ inUse: 0, waiting: 0, lines: new Map(), at: new Map() });

/** Key for work without a target. */
const NONE = '';
const WINDOW_MS = 1000;
/** User for whom the current work runs. */
const workingFor = new AsyncLocalStorage<Owner>();
const known = new Map<string, FairPool>();

/** The pools of this process by name. */
export const allPools = (): ReadonlyMap<string, FairPool> => known;

/**
 * A pool of slots for concurrent work, limited per user, per target and in total. Waiters are served round-robin over
 * users, and over targets within a user, not in order of arrival.
 */
export class FairPool {
  private inUseNow = 0;
  private waitingNow = 0;
  private refusedYet = 0;
  private readonly owns = new Map<Owner, Own>();
  /** Users with waiters; a user moves to the end when served. */
  private readonly turns = new Map<Owner, Own>();
  private readonly targets = new Map<string, At>();
  private idle: (() => void)[] = [];
  private cancelAlarm: Cancel | undefined;
  /** Time of the next wake-up, in ms of `monotonicMs()`. */
  private alarmAt = 0;
  /** Callbacks that end waits on abort: one listener per signal. */
  private readonly leaving = new WeakMap<AbortSignal, Set<() => void>>();

  constructor(
    readonly name: PoolName,
    private readonly bounds: Bounds = POOLS[name],
  ) {
    known.set(name, this);
  }

  get inUse(): number {
    return this.inUseNow;
  }

  get waiting(): number {
    return this.waitingNow;
  }

  /** Number of refused requests since the start. */
  get refused(): number {
    return this.refusedYet;
  }

  /**
   * Runs work once a slot is free.
   * @param signal ends the wait for a slot
   * @throws AppError 429001 when too many wait; the signal's reason; what the work throws
   */
  async run<T>(share: Share, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const waiter = this.waiterOf(share);
    await this.place(waiter, signal);
    try {
      return await workingFor.run(waiter.user, work);
    } finally {
      this.release(waiter);
    }
  }

  /** Takes a slot without waiting. @returns its release function; null: none is free, which counts as refused */
  take(share: Share): (() => void) | null {
    const waiter = this.waiterOf(share);
    const own = this.owns.get(waiter.user) ?? nothing();
    if (!this.hasPlace(own, waiter.target)) {
      this.refusedYet++;
      return null;
    }
    this.begin(waiter, own);
    let given = false;
    return () => {
      if (!given) this.release(waiter);
      given = true;
    };
  }

  /** Like `take`. @throws AppError 429001 when no slot is free */
  takeOrRefuse(share: Share): () => void {
    const release = this.take(share);
    if (!release) throw this.refusal();
    return release;
  }

  /** Whether a request would be refused now, even a waiting one. */
  isFull(share: Share): boolean {
    const { user, target } = this.waiterOf(share);
    const own = this.owns.get(user) ?? nothing();
    const { waiting, waitingOfUser } = this.bounds;
    return !this.hasPlace(own, target) && (this.waitingNow >= waiting || own.waiting >= waitingOfUser);
  }

  /** Resolves when no slot is in use and nothing waits. */
  async onIdle(): Promise<void> {
    if (this.inUseNow + this.waitingNow) await new Promise<void>((resolve) => this.idle.push(resolve));
  }

  /** The error for a refused request. */
  refusal(): Error {
    return errors.tooMany(this.bounds.reason, this.bounds.seconds);
  }

  private waiterOf({ user = workingFor.getStore() ?? null, target = NONE }: Share): Waiter {
    return { user, target: String(target), begin: () => undefined };
  }

  private place(waiter: Waiter, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      let leaves: Set<() => void> | undefined;
      const { user, target } = waiter;
      const own = this.ownOf(user);
      const leave = () => {
        this.unline(waiter, own);
        this.forget(user, own);
        this.tellIdle();
        reject(signal?.reason);
      };
      waiter.begin = () => {
        leaves?.delete(leave);
        resolve();
      };
      const line = own.lines.get(target) ?? new Set();
      line.add(waiter);
      own.lines.set(target, line);
      own.waiting++;
      this.waitingNow++;
      this.turns.set(user, own);
      this.serve();
      if (!line.has(waiter)) return;
      const { waiting, waitingOfUser } = this.bounds;
      if (this.waitingNow > waiting || own.waiting > waitingOfUser) {
        this.refusedYet++;
        this.unline(waiter, own);
        this.forget(user, own);
        reject(this.refusal());
        return;
      }
      if (signal) leaves = this.leavesOf(signal).add(leave);
    });
  }

  private leavesOf(signal: AbortSignal): Set<() => void> {
    const known = this.leaving.get(signal);
    if (known) return known;
    const leaves = new Set<() => void>();
    this.leaving.set(signal, leaves);
    const all = () => {
      for (const leave of leaves) leave();
    };
    signal.addEventListener('abort', all, { once: true });
    return leaves;
  }

  /** Gives free slots to waiters, one per turn. */
  private serve(): void {
    for (let next = this.next(); next; next = this.next()) {
      const { waiter, own } = next;
      this.unline(waiter, own);
      // moves the user, and the target within the user's lines, to the end of the round
      if (own.waiting) {
        this.turns.delete(waiter.user);
        this.turns.set(waiter.user, own);
      }
      const line = own.lines.get(waiter.target);
      if (line) {
        own.lines.delete(waiter.target);
        own.lines.set(waiter.target, line);
      }
      this.begin(waiter, own);
      waiter.begin();
    }
  }

  private next(): { waiter: Waiter; own: Own } | null {
    if (this.inUseNow >= this.bounds.all) return null;
    for (const own of this.turns.values()) {
      if (own.inUse >= this.bounds.user) continue;
      for (const [target, line] of own.lines) {
        const [waiter] = line;
        if (waiter && this.isFree(own, target)) return { waiter, own };
      }
    }
    return null;
  }

  private hasPlace(own: Own, target: string): boolean {
    return this.inUseNow < this.bounds.all && own.inUse < this.bounds.user && this.isFree(own, target);
  }

  private isFree(own: Own, target: string): boolean {
    const { target: most, userAtTarget = most, perSecond } = this.bounds;
    const at = this.targets.get(target);
    if (!at || target === NONE) return true;
    if (at.inUse >= most || (own.at.get(target) ?? 0) >= userAtTarget) return false;
    const [first] = at.begun;
    if (perSecond === undefined || first === undefined || at.begun.length < perSecond) return true;
    const over = first + WINDOW_MS;
    if (over <= monotonicMs()) return true;
    this.wakeAt(over);
    return false;
  }

  /** Schedules serving of waiters held back by the rate per second, for the earliest target. */
  private wakeAt(at: number): void {
    if (this.cancelAlarm && this.alarmAt <= at) return;
    this.cancelAlarm?.();
    this.alarmAt = at;
    const ring = () => {
      this.cancelAlarm = undefined;
      this.serve();
    };
    this.cancelAlarm = after(Math.ceil(at - monotonicMs()), ring, { idle: true });
  }

  private begin({ user, target }: Waiter, own: Own): void {
    const at = this.targets.get(target) ?? { inUse: 0, begun: [] };
    this.targets.set(target, at);
    this.owns.set(user, own);
    at.inUse++;
    own.inUse++;
    own.at.set(target, (own.at.get(target) ?? 0) + 1);
    this.inUseNow++;
    const { perSecond } = this.bounds;
    if (perSecond === undefined) return;
    at.begun.push(monotonicMs());
    if (at.begun.length > perSecond) at.begun.shift();
  }

  private release({ user, target }: Waiter): void {
    const own = this.owns.get(user) as Own;
    const at = this.targets.get(target) as At;
    const left = (own.at.get(target) as number) - 1;
    if (left) own.at.set(target, left);
    else own.at.delete(target);
    own.inUse--;
    at.inUse--;
    this.inUseNow--;
    this.forget(user, own);
    if (!at.inUse) this.forgetTarget(target, at);
    this.serve();
    this.tellIdle();
  }

  private ownOf(user: Owner): Own {
    const own = this.owns.get(user) ?? nothing();
    this.owns.set(user, own);
    return own;
  }

  private unline(waiter: Waiter, own: Own): void {
    const line = own.lines.get(waiter.target) as Set<Waiter>;
    line.delete(waiter);
    if (!line.size) own.lines.delete(waiter.target);
    own.waiting--;
    this.waitingNow--;
    if (!own.waiting) this.turns.delete(waiter.user);
  }

  private forget(user: Owner, own: Own): void {
    if (!own.inUse && !own.waiting) this.owns.delete(user);
  }

  /** Forgets a target once it is idle and its start times no longer count. */
  private forgetTarget(target: string, at: At): void {
    const last = at.begun.at(-1);
    if (last === undefined) {
      this.targets.delete(target);
      return;
    }
    const forget = () => {
      if (!at.inUse && at.begun.at(-1) === last) this.targets.delete(target);
    };
    after(WINDOW_MS, forget, { idle: true });
  }

  private tellIdle(): void {
    if (this.inUseNow + this.waitingNow) return;
    for (const resolve of this.idle.splice(0)) resolve();
  }
}
