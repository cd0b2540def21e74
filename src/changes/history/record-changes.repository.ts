import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { RowValues } from '../../cache/reconcile.js';
import { Db, marks, type SqlValue } from '../../platform/database/db.js';
import type { Late } from '../../platform/outbound/outbound-error.js';
import type { ChangedHosts, ChangeState, RecordChange } from './change-set.entity.js';
import { NOBODY } from './change-sets.repository.js';

/** Columns of a new change. */
const COLUMNS = [
  'change_set_id',
  'position',
  'op',
  'record_id',
  'host',
  'host_before',
  'type',
  'state_before',
  'value_before',
  'state_after',
  'value_after',
  'expected',
  'state',
  'error',
  'tried_at',
] as const;
/** rows of one INSERT */
const CHUNK = 50;
/** ids or positions that one statement names */
const SOME = 200;

/** States of a record as they are stored: JSON, and the value. */
type StoredStates = Record<'state_before' | 'value_before' | 'state_after' | 'value_after', string | null>;
/** A change whose columns of JSON are as they are stored. */
export type StoredChange = Omit<RecordChange, keyof StoredStates | 'error'> & StoredStates & { error: string | null };
export type LeftChange = Pick<RecordChange, 'position' | 'op' | 'record_id'> & StoredStates;
/** What became of a change. */
export type ChangeEnd = Pick<RecordChange, 'record_id' | 'state'> & { error: string | null };
/** A change that was sent to the provider, and of which nobody knows whether it was applied. */
export interface InDoubtChange {
  id: number;
  change_set_id: number;
  /** of a list that is done whole or not at all */
  atomic: boolean;
  /** of the cached record; null for a creation */
  record_id: number | null;
  host: string;
  host_before: string | null;
  /** null: there was none, or, of a change from before such were kept, nobody knows */
  before: RowValues | null;
  /** null after a deletion, and as `before` */
  after: RowValues | null;
  /** of the row before and after; null: as `after` */
  remark: { from: string; to: string } | null;
  /** see `RecordChange.expected` */
  expected: string | null;
  /** only a list that was begun after this proves that it was not applied */
  settle_after: string | null;
  /** whether the provider may still carry it out until then, though something of it be seen (`again`) */
  late: Late;
}
type InDoubtRow = Omit<InDoubtChange, 'before' | 'after' | 'remark' | 'atomic'> &
  StoredStates & { atomic: boolean | number };
interface StateCount {
  state: ChangeState;
  n: number | string;
}

/** The changes of lists. */
@Injectable()
export class RecordChangesRepository {
  constructor(private readonly db: Db) {}

  /** @param rows all columns but the first */
  async insert(set: number, rows: readonly SqlValue[][], manager: EntityManager): Promise<void> {
    for (let i = 0; i < rows.length; i += CHUNK) {
      const some = rows.slice(i, i + CHUNK);
      const one = `(${marks(COLUMNS.length)})`;
      await this.db.run(
        `INSERT INTO record_changes (${COLUMNS.join(', ')}) VALUES ${some.map(() => one).join(', ')}`,
        some.flatMap((row) => [set, ...row]),
        manager,
      );
    }
  }

  /** How many of the changes at these positions nobody has begun. */
  async countPending(set: number, positions: readonly number[], manager: EntityManager): Promise<number> {
    let count = 0;
    for (const some of pieces(positions)) {
      const sql = `SELECT COUNT(*) AS n FROM record_changes
        WHERE change_set_id = ? AND state = 'pending' AND tried_at IS NULL AND position IN (${marks(some.length)})`;
      count += Number((await this.db.row<{ n: number | string }>(sql, [set, ...some], manager))?.n ?? 0);
    }
    return count;
  }

  /** These are sent next. */
  async trying(set: number, positions: readonly number[], at: string, manager: EntityManager): Promise<void> {
    await this.db.run(
      `UPDATE record_changes SET tried_at = ? WHERE change_set_id = ? AND position IN (${marks(positions.length)})`,
      [at, set, ...positions],
      manager,
    );
  }

  /** The same end of changes at several positions. @param list `recordId` null: it stays as it is */
  async end(
    set: number,
    list: readonly { position: number; recordId: number | null }[],
    { state, error, settle_after, late }: Pick<StoredChange, 'state' | 'error' | 'settle_after' | 'late'>,
    manager: EntityManager,
  ): Promise<void> {
    const made = list.filter((one) => one.recordId !== null);
    const ids = made.length
      ? `, record_id = CASE position ${made.map(() => 'WHEN ? THEN ?').join(' ')} ELSE record_id END`
      : '';
    await this.db.run(
      `UPDATE record_changes SET state = ?, error = ?, settle_after = ?, late = ?${state === 'pending' ? ', tried_at = NULL' : ''}${ids}
         WHERE change_set_id = ? AND position IN (${marks(list.length)})`,
      [
        state,
        error,
        settle_after,
        late,
        ...made.flatMap(({ position, recordId }) => [position, recordId]),
        set,
        ...list.map(({ position }) => position),
      ],
      manager,
    );
  }

  /** Which of the states without an end its changes have. */
  async openStates(set: number, manager: EntityManager): Promise<Set<ChangeState>> {
    const sql = `SELECT DISTINCT state FROM record_changes WHERE change_set_id = ? AND state IN ('unknown', 'pending')`;
    return new Set((await this.db.rows<{ state: ChangeState }>(sql, [set], manager)).map(({ state }) => state));
  }

  /** What was not begun will not be. @returns how many these were */
  notTried(set: number, error: string, manager: EntityManager): Promise<number> {
    return this.db.run(
      `UPDATE record_changes SET state = 'not_tried', error = ? WHERE change_set_id = ? AND state = 'pending' AND tried_at IS NULL`,
      [error, set],
      manager,
    );
  }

  /** What became of its changes so far, by their positions. */
  async ends(set: number): Promise<Map<number, ChangeEnd>> {
    const rows = await this.db.rows<ChangeEnd & { position: number }>(
      'SELECT position, record_id, state, error FROM record_changes WHERE change_set_id = ?',
      [set],
    );
    return new Map(rows.map((row) => [row.position, row]));
  }

  /** Its changes by those states that they have. */
  byState(set: number, manager: EntityManager): Promise<StateCount[]> {
    return this.db.rows(
      'SELECT state, COUNT(*) AS n FROM record_changes WHERE change_set_id = ? GROUP BY state',
      [set],
      manager,
    );
  }

  /** The same of what was sent of it. */
  sentByState(set: number, manager: EntityManager): Promise<StateCount[]> {
    const sql = `SELECT state, COUNT(*) AS n FROM record_changes
      WHERE change_set_id = ? AND tried_at IS NOT NULL GROUP BY state`;
    return this.db.rows(sql, [set], manager);
  }

  /** The same of several sets. */
  byStateOf(sets: readonly number[]): Promise<(StateCount & { change_set_id: number })[]> {
    return this.db.rows(
      `SELECT change_set_id, state, COUNT(*) AS n FROM record_changes
       WHERE change_set_id IN (${marks(sets.length)}) GROUP BY change_set_id, state`,
      sets,
    );
  }

  /** The names of what was sent for these domains and has no end. */
  hostsInDoubt(domainIds: readonly number[]): Promise<ChangedHosts[]> {
    return this.db.rows(
      `SELECT DISTINCT c.host, c.host_before FROM record_changes c JOIN change_sets s ON s.id = c.change_set_id
        WHERE s.domain_id IN (${marks(domainIds.length)}) AND s.state <> 'done'
          AND (c.state = 'unknown' OR (c.state = 'pending' AND c.tried_at IS NOT NULL))`,
      domainIds,
    );
  }

  /** The names of what sets of a domain have changed since this revision of it. */
  hostsSince(domainId: number, revision: number, manager: EntityManager): Promise<ChangedHosts[]> {
    return this.hostsWhere('s.domain_id = ? AND s.revision > ?', [domainId, revision], manager);
  }

  /** The names of open sets of a domain that somebody works on. */
  hostsBeingChanged(domainId: number, manager: EntityManager): Promise<ChangedHosts[]> {
    return this.hostsWhere(`s.state = 'open' AND s.domain_id = ? AND s.owner <> ?`, [domainId, NOBODY], manager);
  }

  private hostsWhere(which: string, values: SqlValue[], manager: EntityManager): Promise<ChangedHosts[]> {
    const sql = `SELECT DISTINCT c.host, c.host_before FROM record_changes c JOIN change_sets s ON s.id = c.change_set_id WHERE ${which}`;
    return this.db.rows(sql, values, manager);
  }

  hostsOf(set: number): Promise<ChangedHosts[]> {
    return this.db.rows('SELECT DISTINCT host, host_before FROM record_changes WHERE change_set_id = ?', [set]);
  }

  /** What was sent by a process that is gone is in doubt. */
  async leaveInDoubt(set: number, settleAfter: string, manager: EntityManager): Promise<void> {
    await this.db.run(
      // the provider may be at what the process asked for before it ended
      `UPDATE record_changes SET state = 'unknown', late = 'once', settle_after = ?
          WHERE change_set_id = ? AND state = 'pending' AND tried_at IS NOT NULL`,
      [settleAfter, set],
      manager,
    );
  }

  async dropPending(set: number, manager: EntityManager): Promise<void> {
    await this.db.run(
      `UPDATE record_changes SET state = 'not_tried' WHERE change_set_id = ? AND state = 'pending'`,
      [set],
      manager,
    );
  }

  /** Of a domain that is gone nothing is asked any more. */
  async endOfGone(set: number): Promise<void> {
    await this.db.run(
      `UPDATE record_changes SET state = CASE WHEN tried_at IS NULL THEN 'not_tried' ELSE 'unknown' END
        WHERE change_set_id = ? AND state = 'pending'`,
      [set],
    );
  }

  /** The cached records that changes in doubt of a set touch. */
  async recordsInDoubt(set: number, manager: EntityManager): Promise<number[]> {
    const rows = await this.db.rows<{ record_id: number }>(
      `SELECT record_id FROM record_changes WHERE change_set_id = ? AND state = 'unknown' AND record_id IS NOT NULL`,
      [set],
      manager,
    );
    return rows.map((row) => row.record_id);
  }

  /** The changes in doubt of a domain, oldest first. */
  inDoubt(domainId: number, manager?: EntityManager): Promise<InDoubtRow[]> {
    return this.db.rows(
      `SELECT c.id, c.change_set_id, c.record_id, c.host, c.host_before, c.state_before, c.value_before, c.state_after,
              c.value_after, c.expected, c.settle_after, c.late, s.atomic
         FROM record_changes c JOIN change_sets s ON s.id = c.change_set_id
        WHERE s.state <> 'done' AND s.domain_id = ? AND c.state = 'unknown' ORDER BY c.id`,
      [domainId],
      manager,
    );
  }

  /** The first moment when a list proves one of a domain's changes in doubt not to be applied; null: there are none. */
  async firstSettleAfter(domainId: number): Promise<string | null> {
    const row = await this.db.row<{ at: string | null }>(
      `SELECT MIN(COALESCE(c.settle_after, '')) AS at FROM record_changes c JOIN change_sets s ON s.id = c.change_set_id
        WHERE s.state <> 'done' AND s.domain_id = ? AND c.state = 'unknown'`,
      [domainId],
    );
    return row?.at ?? null;
  }

  async applied(id: number, recordId: number | null, manager: EntityManager): Promise<void> {
    await this.db.run(
      `UPDATE record_changes SET state = 'applied', error = NULL, record_id = ? WHERE id = ?`,
      [recordId, id],
      manager,
    );
  }

  async failed(id: number, error: string, manager: EntityManager): Promise<void> {
    await this.db.run(`UPDATE record_changes SET state = 'failed', error = ? WHERE id = ?`, [error, id], manager);
  }

  /**
   * What the provider answered with a failure is tried again where its list continues in the background.
   * @param since lists that were accepted, or confirmed, before have had their time @returns 0 where it is not
   */
  tryAgain(id: number, since: string, manager: EntityManager): Promise<number> {
    return this.db.run(
      `UPDATE record_changes SET state = 'pending', tried_at = NULL, error = NULL, settle_after = NULL, late = NULL
        WHERE id = ? AND error IS NOT NULL AND change_set_id IN (
          SELECT id FROM change_sets WHERE background = ? AND atomic = ?
            AND cancelled_at IS NULL AND COALESCE(confirmed_at, created_at) > ?)`,
      [id, true, false, since],
      manager,
    );
  }

  /** Those of these cached records that a change in doubt touches. */
  async inDoubtAmong(recordIds: readonly number[], manager: EntityManager): Promise<Set<number>> {
    const found = new Set<number>();
    for (const some of pieces(recordIds)) {
      const sql = `SELECT DISTINCT record_id FROM record_changes WHERE state = 'unknown' AND record_id IN (${marks(some.length)})`;
      for (const row of await this.db.rows<{ record_id: number }>(sql, some, manager)) found.add(row.record_id);
    }
    return found;
  }

  /** What a list shows of these may be of an attempt before the one that may still come. */
  async maybeTwice(ids: readonly number[]): Promise<void> {
    for (const some of pieces(ids))
      await this.db.run(`UPDATE record_changes SET late = 'again' WHERE id IN (${marks(some.length)})`, some);
  }

  /** The next pending changes after this position. */
  pendingBehind(set: number, position: number, limit: number): Promise<(StoredStates & { position: number })[]> {
    const sql = `SELECT position, state_before, value_before, state_after, value_after FROM record_changes
      WHERE change_set_id = ? AND state = 'pending' AND position > ? ORDER BY position LIMIT ${limit}`;
    return this.db.rows(sql, [set, position]);
  }

  /** The positions of what is left of a set, with their names. */
  pending(set: number): Promise<(ChangedHosts & { position: number })[]> {
    return this.db.rows(
      `SELECT position, host, host_before FROM record_changes WHERE change_set_id = ? AND state = 'pending' ORDER BY position`,
      [set],
    );
  }

  /** What is left of a set at these positions, in their order. */
  async left(set: number, positions: readonly number[]): Promise<LeftChange[]> {
    const rows: LeftChange[] = [];
    for (const some of pieces(positions))
      rows.push(
        ...(await this.db.rows<LeftChange>(
          `SELECT position, op, record_id, state_before, value_before, state_after, value_after FROM record_changes
            WHERE change_set_id = ? AND state = 'pending' AND position IN (${marks(some.length)}) ORDER BY position`,
          [set, ...some],
        )),
      );
    return rows;
  }

  /** The changes of a set as they are shown, in their order. */
  all(set: number): Promise<StoredChange[]> {
    return this.db.rows(
      `SELECT position, op, record_id, host, type, state_before, value_before, state_after, value_after, state, error
       FROM record_changes WHERE change_set_id = ? ORDER BY position`,
      [set],
    );
  }

  /** When the oldest change in doubt was sent. */
  async oldestInDoubt(): Promise<string | null> {
    const sql = "SELECT MIN(tried_at) AS at FROM record_changes WHERE state = 'unknown'";
    return (await this.db.row<{ at: string | null }>(sql))?.at ?? null;
  }
}

function pieces<T>(list: readonly T[]): T[][] {
  const found: T[][] = [];
  for (let i = 0; i < list.length; i += SOME) found.push(list.slice(i, i + SOME));
  return found;
}
