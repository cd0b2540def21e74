import { after, type Cancel, monotonicMs, timeMs, within } from '../../../platform/common/clock.js';
import { NotBegun } from './errors.js';

/** At most `requests` in any `perSeconds`. */
export interface Window {
  requests: number;
  perSeconds: number;
}

interface Waiter {
  /** ms of `monotonicMs()` */
  until: number;
  enter(): void;
  refuse(): void;
}

/** A timer that is set for longer goes off at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** shorter pauses are not reported */
const REPORTED_MS = 1_000;
/** ms that a call waits for its pause to be reported */
const REPORTING_MS = 1_000;
/** Longer pauses are cut to this one: the provider may have meant another unit. */
const LONGEST_PAUSE_MS = 3_600_000;

/** When calls begin again, in words. @param at ms of `timeMs()` */
export const againAt = (at: number): string => `try again at ${new Date(at).toISOString()}`;

/**
 * Limits the calls of one account: so many at once, so many in each window of time, none during a pause that the
 * provider demands. A call that is retried goes before those that have not had their turn yet.
 */
export class RateLimiter {
  private waiting: Waiter[] = [];
  private running = 0;
  /** when the last calls began (ms of `timeMs()`), oldest first, as many as the widest window counts */
  private readonly begun: number[] = [];
  /** ms of `timeMs()`, since all instances share it */
  private pausedUntil = 0;
  /** the end of the pause that was reported last */
  private reportedUntil = 0;
  private reporting: Promise<void> = Promise.resolve();
  private cancelNext: Cancel | undefined;

  constructor(
    private readonly concurrency: number,
    private readonly windows: readonly Window[] = [],
    /** called with the ms that each call waited */
    private readonly waited: (ms: number) => void = () => undefined,
    /** called for pauses of a second and more: until when (ms of `timeMs()`), and why */
    private readonly paused: (until: number, why: string) => Promise<void> = async () => undefined,
  ) {}

  /**
   * @param until ms of `monotonicMs()`: a call without its turn by then is refused
   * @param again a retry: it goes before calls that have not had their turn
   * @throws NotBegun `rate_limit` when limits or a pause leave no turn in time (at once, when that is known already),
   * `unavailable` when other calls took all the time
   */
  async run<T>(body: () => Promise<T>, until = Number.POSITIVE_INFINITY, again = false): Promise<T> {
    const begin = monotonicMs();
    await this.turn(until, again);
    this.waited(monotonicMs() - begin);
    try {
      return await body();
    } finally {
      this.running--;
      this.next();
    }
  }

  /** No call of the account begins for so many ms, an hour at most. @returns until when (ms of `timeMs()`) */
  pause(ms: number, why = ''): number {
    this.close(timeMs() + Math.min(ms, LONGEST_PAUSE_MS));
    if (ms >= REPORTED_MS && this.pausedUntil >= this.reportedUntil + REPORTED_MS) {
      this.reportedUntil = this.pausedUntil;
      this.reporting = this.paused(this.pausedUntil, why);
    }
    return this.pausedUntil;
  }

  /** Resolves when the last pause was reported, or after a second. */
  reported(): Promise<void> {
    return within(this.reporting, REPORTING_MS);
  }

  /** No call begins until then (ms of `timeMs()`); waiters that cannot wait that long are refused at once. */
  close(until: number): void {
    this.pausedUntil = Math.max(this.pausedUntil, Math.min(until, timeMs() + LONGEST_PAUSE_MS));
    for (const waiter of this.waiting.filter((w) => this.outlasts(w.until))) waiter.refuse();
    this.next();
  }

  /** Ends a pause. */
  open(): void {
    this.pausedUntil = 0;
    this.reportedUntil = 0;
    this.next();
  }

  /** Whether the pause ends after `until`. @param until ms of `monotonicMs()` */
  private outlasts(until: number): boolean {
    return this.pausedUntil - timeMs() > until - monotonicMs();
  }

  private turn(until: number, again: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      let cancel: Cancel | undefined;
      const leave = () => {
        cancel?.();
        this.waiting = this.waiting.filter((w) => w !== waiter);
      };
      const waiter: Waiter = {
        until,
        enter: () => {
          leave();
          resolve();
        },
        refuse: () => {
          leave();
          reject(this.refusal());
        },
      };
      this.waiting.splice(again ? 0 : this.waiting.length, 0, waiter);
      if (this.outlasts(until)) return waiter.refuse();
      const left = until - monotonicMs();
      if (left < LONGEST_TIMER_MS) cancel = after(Math.max(0, left), waiter.refuse);
      this.next();
    });
  }

  private refusal(): NotBegun {
    const at = this.opens();
    if (at <= timeMs())
      return new NotBegun('unavailable', 'Other calls of the account took the time that there was for the call');
    const words =
      this.pausedUntil < at
        ? "The provider's limits leave no room for the call in the time that there is"
        : 'The account is paused, as its provider wants it';
    return new NotBegun('rate_limit', `${words}; ${againAt(at)}`).retryAt(at);
  }

  /** When the limits let the next call begin (ms of `timeMs()`). */
  opens(): number {
    const times = this.windows.map(
      ({ requests, perSeconds }) => (this.begun.at(-requests) ?? Number.NEGATIVE_INFINITY) + perSeconds * 1000,
    );
    return Math.max(this.pausedUntil, ...times);
  }

  private next(): void {
    this.cancelNext?.();
    while (this.waiting.length && this.running < this.concurrency) {
      const wait = this.opens() - timeMs();
      if (wait > 0) {
        this.cancelNext = after(Math.min(wait, LONGEST_TIMER_MS), () => this.next());
        return;
      }
      this.running++;
      this.begun.push(timeMs());
      if (this.begun.length > Math.max(0, ...this.windows.map((w) => w.requests))) this.begun.shift();
      this.waiting[0]?.enter();
    }
  }
}
