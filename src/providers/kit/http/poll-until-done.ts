import { monotonicMs, sleep } from '../../../platform/common/clock.js';
import { timeIsOver } from './deadline-context.js';
import { asProviderError, ProviderError } from './errors.js';

/** ms between two looks: the first, doubled each time up to the longest, and all together at most. */
const LOOKS = { first: 100, longest: 2000, patience: 60_000 };

/**
 * Polls a write that the vendor carries out after its answer, until it has ended; the caller judges how.
 * @param job as the answer to the write has it
 * @param look the job as it is now
 * @throws ProviderError when it is still running at the end of the time, or cannot be looked at: it may be carried out,
 * be it later
 */
export async function pollUntilDone<T>(
  job: T,
  isRunning: (job: T) => boolean,
  look: (job: T) => Promise<T>,
  { first, longest, patience } = LOOKS,
): Promise<T> {
  const end = monotonicMs() + patience;
  let now = job;
  try {
    for (let wait = first; isRunning(now); wait = Math.min(2 * wait, longest)) {
      if (timeIsOver() || monotonicMs() > end)
        throw new ProviderError('unavailable', 'The provider is still at the change');
      await sleep(wait);
      now = await look(now);
    }
  } catch (error) {
    throw asProviderError(error).applied(true).lateBy('once');
  }
  return now;
}
