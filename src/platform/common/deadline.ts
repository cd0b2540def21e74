import { AsyncLocalStorage } from 'node:async_hooks';
import { monotonicMs } from './clock.js';

/** ms reserved at the end of a request for storing and sending its result; nothing new is started in them. */
export const ENDING_MS = 2_000;

/** Consecutive "retry later" answers of a provider after which a request gives up. */
const MOST_REFUSALS = 10;

/** Minimum ms left for a write; one that is cut off at once would be in doubt for no reason. */
export const LEAST_MS = 200;

/** ms that a single call of a delayed action waits for a slot or a rate limiter. */
const LATER_MS = 5_000;

/** Deadline of a request, in ms of `monotonicMs()`; Infinity: no limit. */
export class Deadline {
  /** No new work (waiting for a lock, calling a provider) starts after this time. */
  work: number;
  /** The request is answered at this time, whether or not its work is finished. */
  answer: number;
  /** Consecutive "retry later" answers of providers. */
  private refusals = 0;
  /** ms that one call may wait for a slot or a rate limiter, within the deadline. */
  patience = Number.POSITIVE_INFINITY;

  /** Whether a write was answered as late: it stays so when the limit is removed, and nothing of it begins any more. */
  isOver = false;

  /** Whether a write to a provider was begun. */
  wrote = false;

  /** Called when the deadline moved forward. */
  moved: () => void = () => undefined;

  constructor(ms: number) {
    this.answer = monotonicMs() + ms;
    this.work = this.answer - endingOf(ms);
  }

  /** Moves it forward, to so many ms from now at the latest; one that was lifted stays so. */
  shorten(ms: number): void {
    const answer = monotonicMs() + ms;
    if (!Number.isFinite(this.answer) || answer >= this.answer) return;
    this.answer = answer;
    this.work = answer - endingOf(ms);
    this.moved();
  }

  /** Removes the limit: the request was answered, or what continues has its own limit. */
  lift(): void {
    this.work = Number.POSITIVE_INFINITY;
    this.answer = Number.POSITIVE_INFINITY;
    this.refusals = 0;
  }

  /** Records whether a provider asked to retry later (true) or answered. */
  heard(isRefusal: boolean): void {
    this.refusals = isRefusal && Number.isFinite(this.work) ? this.refusals + 1 : 0;
  }

  /** Whether providers refused so often that no further call is made. */
  get isRefused(): boolean {
    return this.refusals >= MOST_REFUSALS;
  }
}

const endingOf = (ms: number) => Math.min(ENDING_MS, Math.floor(ms / 10));

const NONE = new Deadline(Number.POSITIVE_INFINITY);
NONE.lift();
const current = new AsyncLocalStorage<Deadline>();

/** Runs a request: everything it waits for is bounded by its deadline. */
export const underDeadline = <T>(deadline: Deadline, body: () => T): T => current.run(deadline, body);

/**
 * Runs a delayed action with the rights of its maker: it has no deadline, but each call waits only briefly and
 * otherwise fails, to be retried once the rights have been checked again.
 */
export const actingLater = <T>(body: () => T): T => {
  const deadline = new Deadline(Number.POSITIVE_INFINITY);
  deadline.patience = LATER_MS;
  return current.run(deadline, body);
};

/** Runs background work without a deadline, whichever request started it. */
export const withoutDeadline = <T>(body: () => T): T => current.run(NONE, body);

/** Deadline of the current request; background work has none. */
export const requestDeadline = (): Deadline => current.getStore() ?? NONE;
