import { AsyncLocalStorage } from 'node:async_hooks';
import { requestDeadline } from '../../../common/deadline.js';
import { asProviderError, NotBegun, type ProviderError } from './errors.js';

/** What all calls for one piece of work share, however deep in an adapter they are made. */
interface Work {
  /** ms of `performance.now()` after which no call begins; Infinity: it is not bounded */
  deadline: number;
  /** ms of `performance.now()` until which the locks that it is done under are certainly held; Infinity: without any */
  heldUntil: () => number;
  /** a write was sent whose answer does not say whether it was carried out */
  unclear: boolean;
  /** a write was carried out */
  written: boolean;
}

const current = new AsyncLocalStorage<Work>();

/** The work that a call is made for; undefined outside of any. */
export const currentWork = (): Work | undefined => current.getStore();

/** ms of `performance.now()` after which no call begins: of the work, or of the request that something is done for. */
export const workDeadline = (): number => current.getStore()?.deadline ?? requestDeadline().work;

/** So many ms, or what is left of the time for the work; whole ones, as timers of signals want them. */
export const atMost = (ms: number): number => Math.max(1, Math.ceil(Math.min(ms, workDeadline() - performance.now())));

/**
 * Does a piece of work under a deadline. A failure says `mayHaveApplied` when any write of it may have been carried
 * out, whatever became of the attempts after it, and in whichever loop they were made.
 * @param deadline ms of `performance.now()`; left out, that of the work around it, or of the request
 * @param heldUntil see `Work`; left out, that of the work around it
 * @throws ProviderError always: what is none counts as `unavailable`
 */
export async function work<T>(
  deadline: number | undefined,
  body: () => Promise<T>,
  heldUntil?: () => number,
): Promise<T> {
  const outer = current.getStore();
  const own: Work = {
    deadline: deadline ?? workDeadline(),
    heldUntil: heldUntil ?? outer?.heldUntil ?? (() => Number.POSITIVE_INFINITY),
    unclear: false,
    written: false,
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

/** Does what calls a provider under locks: no call begins when they may be lost (see `Work`). */
export const underLocks = <T>(heldUntil: () => number, body: () => Promise<T>): Promise<T> => {
  const outer = current.getStore();
  const own: Work = {
    // as it is when it is asked for: that of a request is lifted when it is answered, and what is undone goes on
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
 * The work for one change, or for several that go in one call. Where a write of it was carried out, something was
 * changed, whatever fails after it. @throws ProviderError
 */
export const changing = <T>(body: () => Promise<T>): Promise<T> =>
  work(undefined, async () => {
    try {
      return await body();
    } catch (error) {
      const failure = asProviderError(error);
      throw current.getStore()?.written ? failure.applied(true) : failure;
    }
  });

/** What was written was taken back: as if nothing had been. */
export function takenBack(): void {
  const doing = current.getStore();
  if (doing) doing.written = false;
}

/** Reading, which changes nothing: a failure is certain, unless a write before it was not. @throws ProviderError */
export async function reading<T>(body: () => Promise<T>): Promise<T> {
  try {
    return await body();
  } catch (error) {
    throw asProviderError(error).applied(current.getStore()?.unclear ?? false);
  }
}

/** What follows a write that is not all of a change: where it fails, something was changed. @throws ProviderError */
export async function following<T>(body: () => Promise<T>): Promise<T> {
  try {
    return await body();
  } catch (error) {
    throw asProviderError(error).applied(true);
  }
}

/** Whether the time for the work is over, or that of its locks: what has not begun is not begun any more. */
export function timeIsOver(): boolean {
  const doing = current.getStore();
  return performance.now() >= workDeadline() || (doing !== undefined && performance.now() >= doing.heldUntil());
}

/**
 * To be asked right before anything goes out: of a process that was paused, or lost its database, somebody else may
 * have the locks by now. @throws NotBegun
 */
export function assertHeld(doing = current.getStore()): void {
  if (doing && performance.now() >= doing.heldUntil()) throw new NotBegun('unavailable', LOST);
}

const LOST = 'Not tried: the locks of the change may have been lost, since they could not be renewed in time';

/** The outcome of a change that failed. */
export const failed = (error: ProviderError) =>
  ({ ok: false, error, tried: !(error instanceof NotBegun) || error.mayHaveApplied }) as const;

/** The outcome of a change that was not begun, after another one failed so that this one would, or shall, too. */
export const notTried = (why?: ProviderError) => {
  if (!why) return failed(new NotBegun('unavailable', 'Not tried: the time for the list of changes is over'));
  const error = new NotBegun(why.kind, `Not tried, since another change of the list failed: ${why.message}`);
  const { retry_at: again } = why.data;
  return failed(again ? error.retryAt(Date.parse(again)) : error);
};

/** After such a failure the next change would fail as well. */
export const endsList = ({ kind }: ProviderError): boolean =>
  kind === 'auth' || kind === 'unavailable' || kind === 'rate_limit';
