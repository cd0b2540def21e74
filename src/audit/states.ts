/** The JSON columns of an entry. */
export type StateColumn = 'target' | 'state_before' | 'state_after';

/** An entry whose JSON columns are the stored text. */
export type Raw<T> = Omit<T, StateColumn> & Record<StateColumn, string | null>;

/** Levels of what is parsed: what we write has fewer, since bodies do, and deeper text would exhaust the stack. */
const MAX_DEPTH = 200;
const BACKSLASH = 92;
const QUOTE = 34;
const OPENING = new Set([91, 123]);
const CLOSING = new Set([93, 125]);

/** Whether the brackets outside of strings are nested deeper than `MAX_DEPTH`. */
function isTooDeep(text: string): boolean {
  if (text.length <= 2 * MAX_DEPTH) return false;
  let depth = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (inString && code === BACKSLASH) i++;
    else if (code === QUOTE) inString = !inString;
    else if (!inString && OPENING.has(code) && ++depth > MAX_DEPTH) return true;
    else if (!inString && CLOSING.has(code)) depth--;
  }
  return false;
}

/**
 * Parses a JSON column. Text that is no JSON, or nested too deeply, was not written by us: it is taken, hashed and
 * shown as it is.
 */
export function parsed(text: string | null): object | string | null {
  if (text === null || isTooDeep(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The JSON columns of an entry, parsed. */
export const statesOf = (row: Record<StateColumn, string | null>): Record<StateColumn, object | string | null> => ({
  target: parsed(row.target),
  state_before: parsed(row.state_before),
  state_after: parsed(row.state_after),
});
