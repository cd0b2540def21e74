import { asProviderError } from './errors.js';
import type { Change, DnsProvider, Outcome, RecordVerbs, RemoteZone } from './provider.js';

/** `apply` for vendors with ids per record: walks the verbs in order; a change that fails leaves the others alone. */
export function eachRecord(verbs: RecordVerbs): DnsProvider['apply'] {
  const one = async (zone: RemoteZone, change: Change): Promise<string | null> => {
    switch (change.op) {
      case 'create':
        return verbs.createRecord(zone, change.after);
      case 'update':
        return verbs.updateRecord(zone, change.before, change.after);
      case 'delete':
        await verbs.deleteRecord(zone, change.before);
        return null;
    }
  };
  return async (zone, changes) => {
    const outcomes: Outcome[] = [];
    for (const change of changes) {
      try {
        outcomes.push({ ok: true, remoteId: await one(zone, change) });
      } catch (error) {
        outcomes.push({ ok: false, error: asProviderError(error), tried: true });
      }
    }
    return outcomes;
  };
}
