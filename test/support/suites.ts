import { afterEach, describe, it } from '@jest/globals';

type Reason = string | false | undefined;

/** `describe`, or where there is a reason why it cannot run here, a skipped one that tells the reason. */
export const describeUnless = (reason: Reason) => (name: string, suite: () => void) =>
  reason ? describe.skip(`${name} (skipped: ${reason})`, suite) : describe(name, suite);

/** `it`, or where there is a reason why it cannot run here, a skipped one that tells the reason. */
export const itUnless = (reason: Reason) => (name: string, test: () => unknown) =>
  reason ? it.skip(`${name} (skipped: ${reason})`, test as () => void) : it(name, test as () => void);

/** For a suite or a file: what a test hands over is done when the test is over, the last first. */
export function atEndOfTest(): (end: () => unknown) => void {
  const ends: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });
  return (end) => void ends.push(end);
}
