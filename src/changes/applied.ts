import type { EntityManager } from 'typeorm';
import { endOf } from '../cache/reconcile.js';
import { type RecordCache, rowOfRecord, type StoredRecord } from '../cache/record-cache.js';
import type { DnsRecord } from '../dns/record.js';
import { now } from '../platform/common/clock.js';
import type { Net } from './edits/working-copy.js';
import type { Step } from './history/versions.js';

/** A record of a list whose change the provider has carried out, or that needed none. */
export interface Applied {
  net: Net;
  /** the provider's id of it now; null: it exists only here, or no more */
  remoteId: string | null;
  /** what the provider holds, where that is not quite what was wished */
  held?: DnsRecord | undefined;
}

/**
 * Brings the cache to what was carried out, under the lock of the domain's row, which the caller has taken in this
 * transaction.
 * @returns the rows as they are now, null: removed; and what was moved with them, the TTLs of their sets
 */
export async function commitApplied(
  cache: RecordCache,
  manager: EntityManager,
  domainId: number,
  list: readonly Applied[],
): Promise<{ rows: Map<Net, StoredRecord | null>; moved: Step[] }> {
  const rows = new Map<Net, StoredRecord | null>();
  const moved: Step[] = [];
  const gone = list.filter(({ net }) => !net.after);
  for (const { net } of gone) rows.set(net, null);
  const goneIds = gone.flatMap(({ net }) => net.before?.id ?? []);
  if (goneIds.length) await cache.remove(manager, domainId, goneIds);
  const left = list.filter(({ net }) => net.after);
  const revived = left.flatMap(({ net }) => net.entry.revives ?? []);
  // somebody else may have brought it back already
  const taken = new Set((await cache.those(domainId, 'id', revived, manager)).map(({ id }) => id));
  const written = left.map(({ net, remoteId, held }) => {
    const row = {
      ...(net.after as StoredRecord),
      ...held,
      remote_id: remoteId,
      read_only: false,
      read_only_reason: null,
    };
    const { revives } = net.entry;
    return { id: net.before?.id ?? (revives === undefined || taken.has(revives) ? null : revives), row };
  });
  const at = now();
  if (!left.length) return { rows, moved };
  const ids = await cache.write(
    manager,
    domainId,
    written.map(({ id, row }) => ({
      id,
      row: { ...rowOfRecord(row), ...endOf(row), read_only_reason: null, remark: row.remark },
    })),
    at,
  );
  for (const [i, { net, held }] of left.entries()) {
    const row = {
      ...(written[i] as { row: StoredRecord }).row,
      id: ids[i] as number,
      updated_at: at,
      created_at: net.before ? net.before.created_at : at,
    };
    rows.set(net, row);
    const moves = net.entry.movesTtl || (held && held.ttl !== net.after?.ttl);
    if (row.remote_id === null || !moves) continue;
    const before = await cache.alignTtl(manager, domainId, row);
    moved.push(...before.map((one) => ({ recordId: one.id, before: one, after: { ...one, ttl: row.ttl } })));
  }
  return { rows, moved };
}
