import type { DnsProvider, RemoteZone } from '../../provider.js';
import { asProviderError, ProviderError } from '../http/errors.js';
import { failed } from './outcomes.js';

/**
 * `apply` and `listRecords` for vendors that take writes and put them into DNS by a call of its own, which follows
 * each list of changes of which any was, or may have been, carried out. When it fails nothing of the list counts as
 * done, and the zone is listed only behind one that succeeds: what a list shows counts as what DNS says.
 */
export function published(
  { apply, listRecords }: Pick<DnsProvider, 'apply' | 'listRecords'>,
  publish: (zone: RemoteZone) => Promise<unknown>,
): Pick<DnsProvider, 'apply' | 'listRecords'> {
  // the last of the writes of a zone that are not known to be published
  const waiting = new Map<string, number>();
  let writes = 0;
  const put = async (zone: RemoteZone) => {
    const last = waiting.get(zone.id);
    await publish(zone);
    // what was written meanwhile is not in it
    if (waiting.get(zone.id) === last) waiting.delete(zone.id);
  };
  return {
    async listRecords(zone, options) {
      // another process may have been at it
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
