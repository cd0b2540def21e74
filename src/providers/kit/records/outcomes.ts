import type { Outcome } from '../../provider.js';
import { NotBegun, type ProviderError } from '../http/errors.js';

/** The outcome of a change that failed. */
export const failed = (error: ProviderError) =>
  ({ ok: false, error, tried: !(error instanceof NotBegun) || error.mayHaveApplied }) as const;

/** The outcome of a change that was not begun. @param why the failure of another change that ended the list */
export const notTried = (why?: ProviderError) => {
  if (!why) return failed(new NotBegun('unavailable', 'Not tried: the time for the list of changes is over'));
  const error = new NotBegun(why.kind, `Not tried, since another change of the list failed: ${why.message}`);
  const { retry_at: again } = why.data;
  return failed(again ? error.retryAt(Date.parse(again)) : error);
};

/** Whether the next change of a list would fail in the same way, or the list is atomic and has failed. */
export function endsList(outcome: Outcome | undefined, atomic = false): outcome is Outcome & { ok: false } {
  if (!outcome || outcome.ok) return false;
  const { kind } = outcome.error;
  return atomic || kind === 'auth' || kind === 'unavailable' || kind === 'rate_limit';
}
