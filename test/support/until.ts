import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

/** Shortest pause between two looks in ms. */
const LOOK_MS = 25;
/** A pause is so many times as long as the look before it, and this part of the time waited so far. */
const PER_LOOK = 4;
const PER_WAIT = 1 / 20;
/** ms after which a condition is taken to never become true; it only catches a hang */
export const HANGS_MS = 120_000;

/**
 * Waits for a condition, and leaves the processor to what it waits for: an expensive condition is checked less often.
 * @throws AssertionError when it does not become true at all
 */
export async function until(what: string, condition: () => unknown, ms = HANGS_MS): Promise<void> {
  const begin = performance.now();
  for (let look = begin; !(await condition()); look = performance.now()) {
    const now = performance.now();
    assert.ok(now < begin + ms, `not within ${ms} ms: ${what}`);
    await sleep(Math.max(LOOK_MS, PER_LOOK * (now - look), PER_WAIT * (now - begin)));
  }
}

/** What work ends with. @throws AssertionError when it does not end at all */
export async function ending<T>(what: string, work: Promise<T>, ms = HANGS_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not within ${ms} ms: ${what}`)), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
