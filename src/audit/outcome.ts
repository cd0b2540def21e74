import type { Caller } from '../common/access.js';

/** What a request has in the audit log so far: the entry of a success or of a failure; none, as it changed nothing. */
type Outcome = 'ok' | 'failed' | 'unneeded';

const outcomes = new WeakMap<Caller, Outcome>();

/** Undefined: neither is there an entry, nor was it said that none is needed. */
export const outcomeOf = (caller: Caller): Outcome | undefined => outcomes.get(caller);

/** Remembers it until the answer is sent, so that nothing is written twice. For this folder only. */
export function noteOutcome(caller: Caller, outcome: Outcome): void {
  outcomes.set(caller, outcome);
}
