import { PROOF_MS, TICK_MS } from '../../src/changes/engine.service.js';
import { ENDING_MS } from '../../src/platform/common/deadline.js';
import { parseConfig } from '../../src/platform/config/config.js';
import type { SteeredClock } from './clock.js';
import { until } from './until.js';

/** Time limit of a provider in ms, for tests that let it pass. */
export const TIMEOUT_MS = 10_000;

/** ms that a request waits for a lock, or for its turn at a provider, while it has all of its time */
const LOCK_MS = parseConfig({}).requestDeadlineMs - ENDING_MS;

/** Resolves when a request that has just begun, by a clock that stands still, waits for a lock or for its turn. */
export const waitsForLock = (clock: SteeredClock): Promise<void> =>
  until('a request waits for a lock or for its turn', () => clock.isWaiting(LOCK_MS));

/** Lets the provider's time limit pass once the provider has the write. */
export async function timeOut<T>(clock: SteeredClock, arrived: Promise<void>, work: Promise<T>): Promise<T> {
  await arrived;
  await clock.advance(TIMEOUT_MS);
  return work;
}

/** Does something while work waits for the end of an earlier write, or after the work where it does not wait. */
export async function whileWaiting<T>(clock: SteeredClock, act: () => Promise<unknown>, work: Promise<T>): Promise<T> {
  let over = false;
  const end = work.finally(() => {
    over = true;
  });
  await until('the other write waits', async () => over || clock.isWaiting(TICK_MS));
  await act();
  return end;
}

/** Lets the time pass in which the provider may show an earlier write for which the work waits. */
export const proven = <T>(clock: SteeredClock, work: Promise<T>): Promise<T> =>
  whileWaiting(clock, () => clock.advance(PROOF_MS + 1), work);
