import { following } from '../http/deadline-context.js';
import type { RecordVerbs, Written } from './record-verbs.js';

type Writes = Pick<RecordVerbs, 'createRecord' | 'updateRecord'>;

const idOf = (written: Written): string => (typeof written === 'string' ? written : written.remoteId);

/**
 * Writes a record in as many calls as its fields need: it is disabled first and enabled last. When a later call fails,
 * the failure says `mayHaveApplied`.
 */
export function inSeparateCalls(verbs: Writes & Pick<RecordVerbs, 'turn' | 'note'>): Writes {
  const { turn, note } = verbs;
  return {
    async createRecord(zone, record) {
      const { enabled, remark = '' } = record;
      const id = idOf(await verbs.createRecord(zone, record));
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
          id = idOf(await verbs.updateRecord(zone, before, after, changed));
        });
      }
      if (noted) await step(() => note(zone, id, remark));
      if (turned && enabled) await step(() => turn(zone, id, true));
      return id;
    },
  };
}
