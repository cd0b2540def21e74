import { AsyncLocalStorage } from 'node:async_hooks';
import { monotonicMs } from '../../../platform/common/clock.js';
import { requestDeadline } from '../../../platform/common/deadline.js';
import { asProviderError, NotBegun, ProviderError } from './errors.js';

/**
 * The tries of one write that is made of what was read: the client does not repeat it, since others may have written
 * meanwhile; it throws, and who reads again may try again.
 */
export class Tries {
  /** of the calls so far, as the client counts them */
  attempt = 0;
  turns = 0;
  /** ms of `monotonicMs()` at which the first of them gives up */
  end: number | null = null;
  /** a call of the try was carried out: what follows is repeated by the client */
  written = false;
  /** the failure after which one more try is allowed */
  again: ProviderError | null = null;

  /** One try. @returns what `body` does, or the failure after which it is to be read and tried again */
  async try<T>(body: () => Promise<T>): Promise<T | ProviderError> {
    this.written = false;
    this.again = null;
    try {
      return await withinDeadline(undefined, body, undefined, this);
    } catch (error) {
      if (error instanceof ProviderError && error === this.again) return error;
      throw error;
    }
  }
}

/** Shared by all calls made for one piece of work, however deep in an adapter they are made. */
interface DeadlineContext {
  /** ms of `monotonicMs()` after which no call begins; Infinity: unbounded */
  deadline: number;
  /** ms of `monotonicMs()` until which the locks of the work are certainly held; Infinity: no locks */
  heldUntil: () => number;
  /** a write was sent and it is not known whether it was carried out */
  unclear: boolean;
  /** a write was carried out */
  written: boolean;
  /** of the write that the work is, where it is made of what was read */
  tries?: Tries | undefined;
}

const current = new AsyncLocalStorage<DeadlineContext>();

/** The context of the current call; undefined outside of any. */
export const currentContext = (): DeadlineContext | undefined => current.getStore();

/** ms of `monotonicMs()` after which no call begins: that of the context, or else of the HTTP request. */
export const currentDeadline = (): number => current.getStore()?.deadline ?? requestDeadline().work;

/** The given ms, or what is left until the deadline, in whole ms. */
export const atMost = (ms: number): number => Math.max(1, Math.ceil(Math.min(ms, currentDeadline() - monotonicMs())));

/**
 * Runs `body` under a deadline. A failure says `mayHaveApplied` when any write of it may have been carried out, even if
 * later attempts certainly were not.
 * @param deadline ms of `monotonicMs()`; default: that of the surrounding context, or of the HTTP request
 * @param heldUntil see `DeadlineContext`; default: that of the surrounding context
 * @throws ProviderError always: any other error becomes `unavailable`
 */
export async function withinDeadline<T>(
  deadline: number | undefined,
  body: () => Promise<T>,
  heldUntil?: () => number,
  tries?: Tries,
): Promise<T> {
  const outer = current.getStore();
  const own: DeadlineContext = {
    deadline: deadline ?? currentDeadline(),
    heldUntil: heldUntil ?? outer?.heldUntil ?? (() => Number.POSITIVE_INFINITY),
    unclear: false,
    written: false,
    tries: tries ?? outer?.tries,
  };
  try {
    return await current.run(own, body);
  } catch (error) {
    const failure = asProviderError(error);
    throw own.unclear ? failure.applied(true) : failure;
  } finally {
    if (outer) {
      outer.unclear ||= own.unclear;
      outer.written ||= own.written;
    }
  }
}

/** Runs `body` under locks: no call of a provider begins once they may be lost (see `DeadlineContext`). */
export const underLocks = <T>(heldUntil: () => number, body: () => Promise<T>): Promise<T> => {
  const outer = current.getStore();
  const own: DeadlineContext = {
    // read anew each time: the deadline of a request is lifted once it is answered, and a rollback goes on after it
    get deadline() {
      return outer?.deadline ?? requestDeadline().work;
    },
    heldUntil,
    unclear: outer?.unclear ?? false,
    written: outer?.written ?? false,
  };
  return current.run(own, body);
};

/**
 * Runs one change, or several that go in one call. Once a write of it was carried out, any later failure says
 * `mayHaveApplied`. @throws ProviderError
 */
export const changing = <T>(body: () => Promise<T>): Promise<T> =>
  withinDeadline(undefined, async () => {
    try {
      return await body();
    } catch (error) {
      const failure = asProviderError(error);
      throw current.getStore()?.written ? failure.applied(true) : failure;
    }
  });

/** The writes so far were rolled back: the context counts as one without writes. */
export function takenBack(): void {
  const doing = current.getStore();
  if (doing) doing.written = false;
}

/** Whether a write of the work was sent of which it is not known whether it was carried out. */
export const isUnclear = (): boolean => current.getStore()?.unclear ?? false;

/** Runs a read: its failure says `mayHaveApplied` only if an earlier write is unclear. @throws ProviderError */
export async function reading<T>(body: () => Promise<T>): Promise<T> {
  try {
    return await body();
  } catch (error) {
    throw asProviderError(error).applied(isUnclear());
  }
}

/** Runs a further step of a change that is written in part: a failure says `mayHaveApplied`. @throws ProviderError */
export async function following<T>(body: () => Promise<T>): Promise<T> {
  try {
    return await body();
  } catch (error) {
    throw asProviderError(error).applied(true);
  }
}

/** Whether the deadline has passed or the locks may be lost: nothing more is begun then. */
export function timeIsOver(): boolean {
  const doing = current.getStore();
  return monotonicMs() >= currentDeadline() || (doing !== undefined && monotonicMs() >= doing.heldUntil());
}

/**
 * Called right before anything is sent: after a pause of the process, or the loss of its database, another process may
 * hold the locks by now. @throws NotBegun
 */
export function assertHeld(doing = current.getStore()): void {
  if (doing && monotonicMs() >= doing.heldUntil()) throw new NotBegun('unavailable', LOST);
}

const LOST = 'Not tried: the locks of the change may have been lost, since they could not be renewed in time';
