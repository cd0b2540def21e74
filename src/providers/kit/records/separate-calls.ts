import type { DnsRecord, RemoteRecord } from '../../../dns/record.js';
import type { RemoteZone } from '../../provider.js';
import { following } from '../http/deadline-context.js';
import type { Difference, RecordVerbs } from './record-verbs.js';

/** The writes of a vendor that enables records, or stores their remarks, by separate calls. */
interface SeparateCalls {
  /** Creates a record, enabled, with all other fields. @returns its id @throws ProviderError */
  create(zone: RemoteZone, record: DnsRecord): Promise<string>;
  /** Writes all other fields. @returns the id from now on @throws ProviderError */
  update(zone: RemoteZone, before: RemoteRecord, after: DnsRecord, changed: Difference): Promise<string>;
  turn?(zone: RemoteZone, id: string, enabled: boolean): Promise<unknown>;
  note?(zone: RemoteZone, id: string, remark: string): Promise<unknown>;
}

/**
 * Writes a record in as many calls as its fields need: it is disabled first and enabled last. When a later call fails,
 * the failure says `mayHaveApplied`.
 */
export function inSeparateCalls(verbs: SeparateCalls): Pick<RecordVerbs, 'createRecord' | 'updateRecord'> {
  const { turn, note } = verbs;
  return {
    async createRecord(zone, record) {
      const { enabled, remark = '' } = record;
      const id = await verbs.create(zone, record);
      if (!enabled) await following(async () => turn?.(zone, id, false));
      if (remark) await following(async () => note?.(zone, id, remark));
      return id;
    },
    async updateRecord(zone, before, after, changed) {
      const { enabled, remark = '' } = after;
      const turned = turn && changed.has('enabled');
      const noted = note && changed.has('remark');
      const others = [...changed].filter((field) => !(turned && field === 'enabled') && !(noted && field === 'remark'));
      let id = before.remoteId;
      let begun = false;
      const step = async (body: () => Promise<unknown>) => {
        await (begun ? following(body) : body());
        begun = true;
      };
      if (turned && !enabled) await step(() => turn(zone, id, false));
      if (others.length) {
        await step(async () => {
          id = await verbs.update(zone, before, after, changed);
        });
      }
      if (noted) await step(() => note(zone, id, remark));
      if (turned && enabled) await step(() => turn(zone, id, true));
      return id;
    },
  };
}
