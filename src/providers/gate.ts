import { NotBegun } from './errors.js';

/** At most `requests` in any `perSeconds`. */
export interface Window {
  requests: number;
  perSeconds: number;
}

interface Waiter {
  until: number;
  enter(): void;
  refuse(): void;
}

/** A timer that is set for longer goes off at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** A provider that wants a longer pause is asked again after this one: it may have meant another unit. */
const LONGEST_PAUSE_MS = 3_600_000;

/**
 * Where all calls of one account wait for their turn: so many at once, so many in each window of time, none while the
 * provider wants to be left alone. A call that has waited keeps its place when it is made again.
 */
export class Gate {
  private waiting: Waiter[] = [];
  private running = 0;
  /** when the last calls began, oldest first, as many as the widest window counts */
  private readonly begun: number[] = [];
  private pausedUntil = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly concurrency: number,
    private readonly windows: readonly Window[] = [],
    /** is told how many ms each call waited */
    private readonly waited: (ms: number) => void = () => undefined,
  ) {}

  /**
   * @param until ms of `Date.now()`: who has not got its turn by then goes away
   * @param again it had its turn before: it comes before those who had not
   * @throws NotBegun `rate_limit` when limits or a pause leave no turn in time (at once, when that is known already),
   * `unavailable` when other calls took all the time
   */
  async run<T>(body: () => Promise<T>, until = Number.POSITIVE_INFINITY, again = false): Promise<T> {
    const begin = performance.now();
    await this.turn(until, again);
    this.waited(performance.now() - begin);
    try {
      return await body();
    } finally {
      this.running--;
      this.next();
    }
  }

  /** No call of the account begins for so many ms; who cannot wait that long is told at once. */
  pause(ms: number): void {
    this.pausedUntil = Math.max(this.pausedUntil, Date.now() + Math.min(ms, LONGEST_PAUSE_MS));
    for (const waiter of this.waiting.filter((w) => w.until < this.pausedUntil)) waiter.refuse();
    this.next();
  }

  private turn(until: number, again: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const leave = () => {
        clearTimeout(timer);
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
      if (this.pausedUntil > until) return waiter.refuse();
      const left = until - Date.now();
      if (left < LONGEST_TIMER_MS) timer = setTimeout(waiter.refuse, Math.max(0, left));
      this.next();
    });
  }

  private refusal(): NotBegun {
    return this.opens() > Date.now()
      ? new NotBegun('rate_limit', "The provider's limits leave no room for the call in the time that there is")
      : new NotBegun('unavailable', 'Other calls of the account took the time that there was for the call');
  }

  /** When the limits let the next call begin. */
  private opens(): number {
    const times = this.windows.map(
      ({ requests, perSeconds }) => (this.begun.at(-requests) ?? Number.NEGATIVE_INFINITY) + perSeconds * 1000,
    );
    return Math.max(this.pausedUntil, ...times);
  }

  private next(): void {
    clearTimeout(this.timer);
    while (this.waiting.length && this.running < this.concurrency) {
      const wait = this.opens() - Date.now();
      if (wait > 0) {
        this.timer = setTimeout(() => this.next(), Math.min(wait, LONGEST_TIMER_MS));
        return;
      }
      this.running++;
      this.begun.push(Date.now());
      if (this.begun.length > Math.max(0, ...this.windows.map((w) => w.requests))) this.begun.shift();
      this.waiting[0]?.enter();
    }
  }
}
