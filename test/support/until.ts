import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

/** ms between two looks */
const LOOK_MS = 25;
/** ms after which a condition is taken to never become true; it only catches a hang */
export const HANGS_MS = 120_000;

/** Waits for a condition. @throws AssertionError when it does not become true at all */
export async function until(what: string, condition: () => unknown, ms = HANGS_MS): Promise<void> {
  for (const end = performance.now() + ms; !(await condition()); await sleep(LOOK_MS)) {
    assert.ok(performance.now() < end, `not within ${ms} ms: ${what}`);
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
