/** ms that long work may block the event loop before it yields. */
export const PIECE_MS = 2;
/** The clock is read only every so many items, since reading it costs as much as many items. */
const ITEMS = 8;

/** Start of the current piece of work. */
let begun = 0;
let asked = 0;
const waiting: (() => void)[] = [];

/** Whether long work must yield by awaiting `turn`; called for each item of a list. */
export const due = (): boolean => ++asked % ITEMS === 0 && performance.now() - begun > PIECE_MS;

/**
 * Yields to the event loop. Only one piece of long work runs per iteration, in order of request, so that ten long lists
 * block the loop no longer than one.
 * @param holds the work holds something others wait for, such as the single connection of SQLite, and goes first
 */
export function turn(holds = false): Promise<void> {
  return new Promise((resolve) => {
    if (!waiting.length) setImmediate(next);
    if (holds) waiting.unshift(resolve);
    else waiting.push(resolve);
  });
}

/** The items that pass a test, of a list that may be long. */
export async function sifted<T>(list: readonly T[], test: (one: T) => boolean): Promise<T[]> {
  const passed: T[] = [];
  for (const one of list) {
    if (due()) await turn();
    if (test(one)) passed.push(one);
  }
  return passed;
}

function next(): void {
  begun = performance.now();
  waiting.shift()?.();
  if (waiting.length) setImmediate(next);
}
