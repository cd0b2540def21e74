import type { DnsRecord } from '../../../dns/record.js';
import type { Apply, ApplyOptions, Change, Outcome, RemoteZone } from '../../provider.js';
import { asProviderError } from '../http/errors.js';
import { failed, notTried } from '../records/outcomes.js';

/**
 * `apply` for vendors of sets that first fails the changes whose record the vendor cannot hold: nothing is read or sent
 * for them, and the other changes of their set are carried out.
 * @param judge throws for what the vendor cannot hold, best `NotBegun`
 */
export const refusing = (judge: (record: DnsRecord) => void, apply: Apply): Apply =>
  Object.assign(async (zone: RemoteZone, changes: Change[], options?: ApplyOptions) => {
    const outcomes: (Outcome | null)[] = changes.map((change) => {
      try {
        if (change.op !== 'delete') judge(change.after);
        return null;
      } catch (error) {
        return failed(asProviderError(error));
      }
    });
    const refused = outcomes.find((outcome) => outcome !== null);
    if (refused && !refused.ok && options?.atomic) return outcomes.map((one) => one ?? notTried(refused.error));
    const left = [...changes.keys()].filter((i) => !outcomes[i]);
    const done = left.length
      ? await apply(
          zone,
          left.map((i) => changes[i] as Change),
          options,
        )
      : [];
    for (const [at, i] of left.entries()) outcomes[i] = done[at] as Outcome;
    return outcomes as Outcome[];
  }, apply.recordsAt && { recordsAt: apply.recordsAt });
