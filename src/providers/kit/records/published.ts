import type { DnsProvider, RemoteZone } from '../../provider.js';
import { asProviderError, ProviderError } from '../http/errors.js';
import { failed } from './outcomes.js';

/**
 * `apply` and `listRecords` for vendors that publish writes by a separate call, which follows each list of changes of
 * which any was, or may have been, carried out. When it fails, nothing of the list counts as done, and the zone is
 * listed only after one that succeeds: a list counts as what DNS says.
 */
export function published(
  { apply, listRecords }: Pick<DnsProvider, 'apply' | 'listRecords'>,
  publish: (zone: RemoteZone) => Promise<unknown>,
): Pick<DnsProvider, 'apply' | 'listRecords'> {
  // by zone: number of the last write that is not known to be published
  const waiting = new Map<string, number>();
  let writes = 0;
  const put = async (zone: RemoteZone) => {
    const last = waiting.get(zone.id);
    await publish(zone);
    // what was written meanwhile is not published yet
    if (waiting.get(zone.id) === last) waiting.delete(zone.id);
  };
  return {
    async listRecords(zone, options) {
      // another instance may have written
      if (options?.settles || waiting.has(zone.id)) await put(zone);
      return listRecords(zone, options);
    },
    async apply(zone, changes, options) {
      const [before, mine] = [waiting.get(zone.id), ++writes];
      waiting.set(zone.id, mine);
      const outcomes = await apply(zone, changes, options);
      if (!outcomes.some((outcome) => outcome.ok || outcome.error.mayHaveApplied)) {
        if (before === undefined && waiting.get(zone.id) === mine) waiting.delete(zone.id);
        return outcomes;
      }
      const failure = await put(zone).then(() => null, asProviderError);
      if (!failure) return outcomes;
      const words = `The change is stored, but the provider did not put it into DNS: ${failure.message}`;
      return outcomes.map((one) => (one.ok ? failed(new ProviderError(failure.kind, words, true)) : one));
    },
  };
}
