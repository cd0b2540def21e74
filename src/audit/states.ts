/** The JSON columns of an entry. */
export type StateColumn = 'target' | 'state_before' | 'state_after';

/** An entry whose JSON columns are the stored text. */
export type Raw<T> = Omit<T, StateColumn> & Record<StateColumn, string | null>;

/** Parses a JSON column. Text that is no JSON was not written by us: it is taken, hashed and shown as it is. */
export function parsed(text: string | null): object | string | null {
  if (text === null) return null;
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
