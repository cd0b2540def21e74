import { performance } from 'node:perf_hooks';

/** Cancels a call that is scheduled; no effect once the call was made. */
export type Cancel = () => void;

/** What the service reads the time from and waits with. */
export interface Clock {
  /** ms since 1970 by the clock of this machine, which can be set. */
  wallMs(): number;
  /** ms since an arbitrary moment; never goes back. */
  monotonicMs(): number;
  /**
   * Calls `work` once, after `ms`.
   * @param idle do not keep the process alive for this call
   */
  after(ms: number, work: () => void, idle: boolean): Cancel;
}

const MACHINE: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(ms, work, idle) {
    const timer = setTimeout(work, ms);
    if (idle) timer.unref();
    return () => clearTimeout(timer);
  },
};
let clock = MACHINE;

/** Replaces the clock, for tests that advance the time themselves; null: use the clock of this machine. */
export function useClock(other: Clock | null): void {
  clock = other ?? MACHINE;
}

/** ms since 1970 by the clock of this machine; use `timeMs` for everything that other processes see. */
export const wallMs = (): number => clock.wallMs();

/** ms since an arbitrary moment; never goes back. Use it for durations and deadlines inside this process. */
export const monotonicMs = (): number => clock.monotonicMs();

/** Clock offset in ms above which a warning is logged and this machine runs no jobs. */
export const MAX_CLOCK_OFFSET_MS = 5000;

/** Shared time minus the monotonic clock, in ms; null: use the clock of this machine. */
let ahead: number | null = null;
/** Clock of this machine minus the monotonic clock when the shared time was last set. */
let apart = MACHINE.wallMs() - MACHINE.monotonicMs();
/** Difference in ms that counts as a jump of the clock. */
const JUMP_MS = 1000;

/**
 * Sets the shared time, which continues by the monotonic clock; null: use the clock of this machine.
 * @param at the moment, by `performance.now()`, at which the shared time was `ms`
 */
export function keepTime(ms: number | null, at = performance.now()): void {
  // not by the clock of a test: what a test has skipped is added to the time of a database, too
  ahead = ms === null ? null : ms - at;
  apart = Date.now() - performance.now();
}

/**
 * Current time in ms by the database's clock, the same for all instances; use it for everything that is stored or
 * compared with stored times.
 */
export const timeMs = (): number => (ahead === null ? clock.wallMs() : Math.floor(clock.monotonicMs() + ahead));

/** How many ms the clock of this machine is ahead of the shared time. */
export const clockOffsetMs = (): number => (ahead === null ? 0 : clock.wallMs() - timeMs());

/**
 * Whether the machine was suspended or its clock was set since the shared time was read; it must be read again then.
 */
export const hasJumped = (): boolean => ahead !== null && Math.abs(Date.now() - performance.now() - apart) > JUMP_MS;

/** Whether the clock of this machine is too far off to be trusted. */
export const isClockOff = (): boolean => Math.abs(clockOffsetMs()) > MAX_CLOCK_OFFSET_MS;

/**
 * The current time plus `offsetMs` as ISO 8601 UTC with milliseconds, the only format in which times are stored and
 * sent.
 */
export const now = (offsetMs = 0): string => new Date(timeMs() + offsetMs).toISOString();

/** Options of a wait. */
export interface Waiting {
  /** Ends the wait early, without an error. */
  signal?: AbortSignal | undefined;
  /** Do not keep the process alive for this wait. */
  idle?: boolean;
}

/** Calls `work` once, after `ms`. */
export const after = (ms: number, work: () => void, { idle = false }: Pick<Waiting, 'idle'> = {}): Cancel =>
  clock.after(ms, work, idle);

/** Calls `work` every `ms` until it is cancelled. Does not keep the process alive. */
export function every(ms: number, work: () => void): Cancel {
  let cancel: Cancel;
  const arm = () => {
    cancel = clock.after(
      ms,
      () => {
        arm();
        work();
      },
      true,
    );
  };
  arm();
  return () => cancel();
}

/** Waits `ms`, or until the signal is aborted. */
export function sleep(ms: number, { signal, idle = false }: Waiting = {}): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      cancel();
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.after(ms, end, idle);
    signal?.addEventListener('abort', end, { once: true });
  });
}

/** Waits for work to finish, at most `ms`. */
export async function within(work: Promise<unknown>, ms: number): Promise<void> {
  let cancel: Cancel = () => undefined;
  const patience = new Promise<void>((resolve) => {
    cancel = clock.after(ms, resolve, false);
  });
  await Promise.race([work, patience]).finally(cancel);
}

/** A limit of time: its signal is aborted after `ms` with a TimeoutError, unless `end` is called before. */
export function timeLimit(ms: number): { signal: AbortSignal; end: Cancel } {
  const controller = new AbortController();
  const abort = () => controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
  return { signal: controller.signal, end: clock.after(ms, abort, true) };
}

/** A signal that is aborted after `ms` with a TimeoutError. */
export const timeoutSignal = (ms: number): AbortSignal =>
  // Node drops its own signal and timer when nothing refers to the signal any more
  clock === MACHINE ? AbortSignal.timeout(Math.max(0, Math.ceil(ms))) : timeLimit(ms).signal;
