import { afterEach, describe, it } from '@jest/globals';

type Reason = string | false | undefined;

/** `describe`, or a skipped one with the reason if it cannot run here. */
export const describeUnless = (reason: Reason) => (name: string, suite: () => void) =>
  reason ? describe.skip(`${name} (skipped: ${reason})`, suite) : describe(name, suite);

/** `it`, or a skipped one with the reason if it cannot run here. */
export const itUnless = (reason: Reason) => (name: string, test: () => unknown) =>
  reason ? it.skip(`${name} (skipped: ${reason})`, test as () => void) : it(name, test as () => void);

/** Cleanup for a suite or a file: functions passed by a test run after it, last one first. */
export function atEndOfTest(): (end: () => unknown) => void {
  const ends: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });
  return (end) => void ends.push(end);
}
