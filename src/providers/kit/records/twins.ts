import { isDeepStrictEqual } from 'node:util';
import type { RemoteRecord } from '../../../dns/record.js';
import { due, turn } from '../../../platform/common/turns.js';
import { derivedId } from '../rrsets/record-set.js';

/** A record with what the vendor holds with it, its place left out. */
interface Held {
  own: unknown;
  record: RemoteRecord;
}

const WHY = 'Its value is held several times, each time in another form or with other settings';

/**
 * The records of entries: equal ones are one, those that differ and have one id stay apart and are not written, since a
 * change of one would be one of the others. Each has an id of its own content then, in whatever order they are listed.
 */
export async function apart(list: readonly Held[], why = WHY): Promise<RemoteRecord[]> {
  const twins = new Map<string, Held[]>();
  for (const held of list) {
    if (due()) await turn();
    const same = twins.get(held.record.remoteId) ?? [];
    if (!same.some(({ own }) => isDeepStrictEqual(own, held.own))) same.push(held);
    twins.set(held.record.remoteId, same);
  }
  return [...twins.values()].flatMap((same) =>
    same.map(({ own, record }) => {
      if (same.length === 1) return record;
      const remoteId = derivedId({ ...record, value: [record.value, 'twin', JSON.stringify(own)].join('\0') });
      return { readOnlyReason: why, ...record, remoteId, readOnly: true };
    }),
  );
}
