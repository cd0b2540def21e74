import { AsyncLocalStorage } from 'node:async_hooks';

/** ms at the end of a request's time in which nothing is begun any more: what came of it is written down and told */
const ENDING_MS = 2_000;

/** answers in a row that ask a request to come again later: then it does not */
const MOST_REFUSALS = 10;

/** ms that must be left for a write: one that is cut off at once is in doubt for nothing */
export const LEAST_MS = 200;

/** ms that one call of what acts later waits for its turn */
const LATER_MS = 5_000;

/** Until when a request has to be answered, in ms of `performance.now()`; Infinity: it is not bounded any more. */
export class Deadline {
  /** after this nothing is begun for the request: no wait for a lock, no call of a provider */
  work: number;
  /** it is answered then, whatever becomes of its work */
  answer: number;
  /** how often in a row a provider has told it to come again later */
  private refusals = 0;
  /** ms that one call waits for its turn, and for a provider that wants to be left alone, within all that time */
  patience = Number.POSITIVE_INFINITY;

  constructor(ms: number) {
    this.answer = performance.now() + ms;
    this.work = this.answer - Math.min(ENDING_MS, Math.floor(ms / 10));
  }

  /** It was answered, or what goes on has a limit of its own. */
  lift(): void {
    this.work = Number.POSITIVE_INFINITY;
    this.answer = Number.POSITIVE_INFINITY;
    this.refusals = 0;
  }

  /** A provider wants to be asked again later (true), or has answered. */
  heard(isRefusal: boolean): void {
    this.refusals = isRefusal && Number.isFinite(this.work) ? this.refusals + 1 : 0;
  }

  /** Whether the provider has refused often enough: nobody is asked once more. */
  get isRefused(): boolean {
    return this.refusals >= MOST_REFUSALS;
  }
}

const NONE = new Deadline(Number.POSITIVE_INFINITY);
NONE.lift();
const current = new AsyncLocalStorage<Deadline>();

/** Does what a request asks for: all that it waits for ends with the request's time. */
export const underDeadline = <T>(deadline: Deadline, body: () => T): T => current.run(deadline, body);

/**
 * Does what acts later with the right of who made it: its time has no end, but no call of it waits for long. It fails
 * instead, and is tried again when that right was judged anew.
 */
export const actingLater = <T>(body: () => T): T => {
  const deadline = new Deadline(Number.POSITIVE_INFINITY);
  deadline.patience = LATER_MS;
  return current.run(deadline, body);
};

/** Does what nobody waits for, whoever caused it. */
export const withoutDeadline = <T>(body: () => T): T => current.run(NONE, body);

/** The time of the request that this is done for; without one, of what goes on by itself, it has no end. */
export const requestDeadline = (): Deadline => current.getStore() ?? NONE;
