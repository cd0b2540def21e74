import { performance } from 'node:perf_hooks';

/** Clock offset in ms above which a warning is logged and this machine runs no jobs. */
export const MAX_CLOCK_OFFSET_MS = 5000;

/** Shared time minus the monotonic clock, in ms; null: use the clock of this machine. */
let ahead: number | null = null;
/** Clock of this machine minus the monotonic clock when the shared time was last set. */
let apart = Date.now() - performance.now();
/** Difference in ms that counts as a jump of the clock. */
const JUMP_MS = 1000;

/** Sets the shared time at the moment `at` of `performance.now()`; null: use the clock of this machine. */
export function keepTime(ms: number | null, at = performance.now()): void {
  ahead = ms === null ? null : ms - at;
  apart = Date.now() - performance.now();
}

/**
 * Current time in ms by the database's clock, the same for all instances; use it for everything that is stored or
 * compared with stored times.
 */
export const timeMs = (): number => (ahead === null ? Date.now() : Math.floor(performance.now() + ahead));

/** How many ms the clock of this machine is ahead of the shared time. */
export const clockOffsetMs = (): number => (ahead === null ? 0 : Date.now() - timeMs());

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

/** Waits for work to finish, at most `ms`. */
export async function within(work: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, patience]).finally(() => clearTimeout(timer));
}

/** @param idle do not keep the process alive for this timer */
export const sleep = (ms: number, idle = false): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    if (idle) timer.unref();
  });
