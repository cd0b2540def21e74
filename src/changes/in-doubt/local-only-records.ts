import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { RowValues } from '../../cache/reconcile.js';
import { RecordCache } from '../../cache/record-cache.js';
import { sameRecord } from '../../dns/record.js';
import type { InDoubtChange } from '../history/in-doubt.repository.js';
import { RecordChangesRepository } from '../history/record-changes.repository.js';
import { localOnly } from './evidence.js';

type Row = RowValues & { id: number | null; remark: string };

/**
 * Changes in doubt of records that exist only here (disabled, where the provider holds no such) and that are part of a
 * list which is done whole or not at all. No list of a provider says anything of them: they share the end of the rest.
 */
@Injectable()
export class LocalOnlyRecords {
  constructor(
    private readonly changes: RecordChangesRepository,
    private readonly cache: RecordCache,
  ) {}

  /**
   * Ends those whose list has an end for all else: carried out now when all of that was applied, else failed. In the
   * transaction that has settled the others, under the lock of the domain's row.
   * @param free changes in doubt at names that nobody else changes
   */
  async settle(
    manager: EntityManager,
    domainId: number,
    free: readonly InDoubtChange[],
  ): Promise<{ applied: Map<InDoubtChange, number | null>; failed: InDoubtChange[] }> {
    const bySet = new Map<number, InDoubtChange[]>();
    for (const change of localOnly(free))
      bySet.set(change.change_set_id, [...(bySet.get(change.change_set_id) ?? []), change]);
    const applied = new Map<InDoubtChange, number | null>();
    const failed: InDoubtChange[] = [];
    for (const [set, changes] of bySet) {
      const end = await this.endOfOthers(manager, set, changes);
      if (end === null) continue;
      const rows = end === 'applied' ? await this.carryOut(manager, domainId, changes) : null;
      if (rows) for (const [change, id] of rows) applied.set(change, id);
      else failed.push(...changes);
    }
    return { applied, failed };
  }

  /** What became of the rest of what was sent of a list; null: that is not known of all of it yet. */
  private async endOfOthers(
    manager: EntityManager,
    set: number,
    changes: readonly InDoubtChange[],
  ): Promise<'applied' | 'failed' | null> {
    const rows = await this.changes.sentByState(set, manager);
    const states = new Map<string, number>(rows.map(({ state, n }) => [state, Number(n)]));
    if (states.get('unknown') !== changes.length) return null;
    states.delete('unknown');
    return states.size === 1 && states.has('applied') ? 'applied' : 'failed';
  }

  /** @returns the rows of the changes, null after deletions; or null, nothing being written, when one fits no more */
  private async carryOut(
    manager: EntityManager,
    domainId: number,
    changes: readonly InDoubtChange[],
  ): Promise<Map<InDoubtChange, number | null> | null> {
    const rows = new Set<Row>(await this.cache.following(domainId, manager));
    const folded = fold(rows, changes);
    if (!folded) return null;
    const { made, gone } = folded;
    // of several changes of one record the last one counts
    const left = [...made.values()].filter((row): row is Row => row !== null && rows.has(row));
    await this.cache.remove(manager, domainId, gone);
    const ids = await this.cache.write(
      manager,
      domainId,
      left.map(({ id, ...row }) => ({ id, row })),
    );
    const idOf = new Map(left.map((row, i) => [row, ids[i] as number]));
    return new Map([...made].map(([change, row]) => [change, (row && idOf.get(row)) ?? null]));
  }
}

/** Carries changes out on copies of the rows, one behind the other; null when one fits no more. */
function fold(rows: Set<Row>, changes: readonly InDoubtChange[]) {
  const made = new Map<InDoubtChange, Row | null>();
  const gone: number[] = [];
  for (const change of changes) {
    const { before, after, own } = change;
    const old = before ? find(rows, change, before) : null;
    if (old === undefined) return null;
    if (old) rows.delete(old);
    if (!after && old?.id != null) gone.push(old.id);
    const row = after && { ...after, id: old?.id ?? null, remark: own?.to.remark ?? '' };
    if (!enters(rows, row)) return null;
    made.set(change, row);
  }
  return { made, gone };
}

/** Adds a row, unless there is one that says the same. */
function enters(rows: Set<Row>, row: Row | null): boolean {
  if (row && find(rows, null, row)) return false;
  if (row) rows.add(row);
  return true;
}

/** A row that says the same; as what a change was made for, it is that very one, still only here. */
function find(rows: ReadonlySet<Row>, change: InDoubtChange | null, like: RowValues): Row | undefined {
  for (const row of rows) {
    if (!sameRecord(row, like)) continue;
    if (!change || (row.remote_id === null && [null, row.id].includes(change.record_id))) return row;
  }
  return undefined;
}
