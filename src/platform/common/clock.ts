import { performance } from 'node:perf_hooks';

/** ms by which the clock of a machine may be off before it is said, and the machine takes no jobs */
export const MAX_CLOCK_OFFSET_MS = 5000;

/** shared time less the monotonic clock, which nobody sets; null: the clock of this machine is the shared one */
let ahead: number | null = null;
/** the clock of this machine less the monotonic one, when the shared time was learned */
let apart = Date.now() - performance.now();
/** ms */
const JUMP_MS = 1000;

/** Says what `timeMs` is at this moment of `performance.now()`; null: what the clock of this machine says. */
export function keepTime(ms: number | null, at = performance.now()): void {
  ahead = ms === null ? null : ms - at;
  apart = Date.now() - performance.now();
}

/**
 * Now in ms, as all processes of one database see it: the database's clock, whatever the clock of this machine says.
 * What is stored, and what is compared with something stored, is of this time.
 */
export const timeMs = (): number => (ahead === null ? Date.now() : Math.floor(performance.now() + ahead));

/** ms by which the clock of this machine is ahead of the shared one. */
export const clockOffsetMs = (): number => (ahead === null ? 0 : Date.now() - timeMs());

/**
 * Whether this machine slept since the shared time was learned, which the monotonic clock does not notice, or somebody
 * has set its clock: then the shared time has to be asked for anew.
 */
export const hasJumped = (): boolean => ahead !== null && Math.abs(Date.now() - performance.now() - apart) > JUMP_MS;

/** Whether the clock of this machine is not to be trusted. */
export const isClockOff = (): boolean => Math.abs(clockOffsetMs()) > MAX_CLOCK_OFFSET_MS;

/**
 * Now, or a moment `offsetMs` away from now, as ISO 8601 UTC with milliseconds: the one form in which times are stored
 * and sent.
 */
export const now = (offsetMs = 0): string => new Date(timeMs() + offsetMs).toISOString();

/** Waits for work, but no longer than so many ms. */
export async function within(work: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, patience]).finally(() => clearTimeout(timer));
}

/** @param idle the process may end meanwhile */
export const sleep = (ms: number, idle = false): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    if (idle) timer.unref();
  });
