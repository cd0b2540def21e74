/** ms that long work holds the event loop before everybody else has a turn */
export const PIECE_MS = 2;
/** the clock is looked at so seldom: looking takes as long as many an item */
const ITEMS = 8;

/** when the piece that runs began */
let begun = 0;
let asked = 0;
const waiting: (() => void)[] = [];

/** Whether long work has to let everybody else in, by waiting for `turn`: asked for each item of a list. */
export const due = (): boolean => ++asked % ITEMS === 0 && performance.now() - begun > PIECE_MS;

/**
 * The next turn of long work: all else that the event loop has comes first. In one turn of the loop one piece is done,
 * whoever's it is, in the order of asking: ten lists that are worked on at once hold nobody up longer than one does.
 * @param holds others wait for what is held meanwhile, such as the one connection of SQLite: before the others
 */
export function turn(holds = false): Promise<void> {
  return new Promise((resolve) => {
    if (!waiting.length) setImmediate(next);
    if (holds) waiting.unshift(resolve);
    else waiting.push(resolve);
  });
}

function next(): void {
  begun = performance.now();
  waiting.shift()?.();
  if (waiting.length) setImmediate(next);
}
