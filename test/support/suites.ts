import { join, relative } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';

const { commandFor } = require('../tiers.cjs') as { commandFor(file: string): string };

/** Whether suites try every variant, in the nightly run; the gate tries a part of them. */
export const thorough = process.env.TEST_THOROUGH === 'yes';

type Reason = string | false | undefined;

/** Why a suite cannot run here, and the command that runs it. */
function skipped(reason: string): string {
  const file = relative(join(import.meta.dirname, '..'), expect.getState().testPath ?? '');
  return `(skipped: ${reason}; ${commandFor(file)} runs it)`;
}

/** `describe`, or a skipped one with the reason and the command that runs it. */
export const describeUnless = (reason: Reason) => (name: string, suite: () => void) =>
  reason ? describe.skip(`${name} ${skipped(reason)}`, suite) : describe(name, suite);

/** `it`, or a skipped one with the reason and the command that runs it. */
export const itUnless = (reason: Reason) => (name: string, test: () => unknown) =>
  reason ? it.skip(`${name} ${skipped(reason)}`, test as () => void) : it(name, test as () => void);

/** Cleanup for a suite or a file: functions passed by a test run after it, last one first. */
export function atEndOfTest(): (end: () => unknown) => void {
  const ends: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });
  return (end) => void ends.push(end);
}
