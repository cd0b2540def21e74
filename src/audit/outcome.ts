import type { Caller } from '../access/access.js';

/** The audit entry of a request so far: that of a success or of a failure, or none because none is needed. */
type Outcome = 'ok' | 'failed' | 'unneeded';

const outcomes = new WeakMap<Caller, Outcome>();

/** Undefined: there is no entry yet, and nothing said that none is needed. */
export const outcomeOf = (caller: Caller): Outcome | undefined => outcomes.get(caller);

/** Remembers it for the request, so that nothing is written twice. For this folder only. */
export function noteOutcome(caller: Caller, outcome: Outcome): void {
  outcomes.set(caller, outcome);
}
