import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Db, marks, type SqlValue } from '../../platform/database/db.js';
import type { ChangedHosts, ChangeState, Door, RecordChange } from './change-set.entity.js';
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
  'domain_id',
  'version',
] as const;
/** rows of one INSERT */
const CHUNK = 50;
/** ids or positions that one statement names */
const SOME = 200;

/** States of a record as they are stored: JSON, and the value. */
export type StoredStates = Record<'state_before' | 'value_before' | 'state_after' | 'value_after', string | null>;
/** A change whose columns of JSON are as they are stored. */
export type StoredChange = Omit<RecordChange, keyof StoredStates | 'error'> & StoredStates & { error: string | null };
const RESULT = ['record_id', 'state_before', 'value_before', 'state_after', 'value_after'] as const;
/** What is written of a change when it ends. */
export type ChangeResult = StoredStates & Pick<RecordChange, 'record_id'>;
export type LeftChange = Pick<RecordChange, 'position' | 'op' | 'record_id'> & StoredStates;
/** What became of a change. */
export type ChangeEnd = Pick<RecordChange, 'record_id' | 'state'> & { error: string | null };
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

  /** The same end of changes at several positions. @param list fields that are null or absent stay as they are */
  async end(
    set: number,
    list: readonly ({ position: number } & Partial<ChangeResult>)[],
    end: Pick<StoredChange, 'state' | 'error' | 'settle_after' | 'late' | 'version'>,
    manager: EntityManager,
  ): Promise<void> {
    const fields = Object.entries({ ...end, ...(end.state === 'pending' && { tried_at: null }) });
    const values: SqlValue[] = fields.map(([, value]) => value);
    const sets = fields.map(([column]) => `${column} = ?`);
    for (const column of RESULT) {
      const given = list.filter((one) => (one[column] ?? null) !== null);
      if (!given.length) continue;
      sets.push(`${column} = CASE position ${given.map(() => 'WHEN ? THEN ?').join(' ')} ELSE ${column} END`);
      values.push(...given.flatMap((one) => [one.position, one[column] ?? null]));
    }
    await this.db.run(
      `UPDATE record_changes SET ${sets.join(', ')} WHERE change_set_id = ? AND position IN (${marks(list.length)})`,
      [...values, set, ...list.map(({ position }) => position)],
      manager,
    );
  }

  /** What a list shows that a change in doubt, which is applied, began at or has come to. */
  async cameTo(id: number, states: Partial<StoredStates> & { version: number }, manager: EntityManager): Promise<void> {
    const sets = Object.keys(states).map((column) => `${column} = ?`);
    const sql = `UPDATE record_changes SET ${sets.join(', ')} WHERE id = ?`;
    await this.db.run(sql, [...Object.values(states), id], manager);
  }

  /** Whether a version has a change of one of these records. */
  async anyIn(
    domainId: number,
    version: number,
    recordIds: readonly number[],
    manager: EntityManager,
  ): Promise<boolean> {
    for (const some of pieces(recordIds)) {
      const sql = `SELECT 1 AS one FROM record_changes
        WHERE domain_id = ? AND version = ? AND record_id IN (${marks(some.length)}) LIMIT 1`;
      if (await this.db.row(sql, [domainId, version, ...some], manager)) return true;
    }
    return false;
  }

  /** The lowest position of a set, below which the next change is stored that no edit names. */
  async lowest(set: number, manager: EntityManager): Promise<number> {
    const sql = 'SELECT MIN(position) AS position FROM record_changes WHERE change_set_id = ?';
    return Number((await this.db.row<{ position: number | null }>(sql, [set], manager))?.position ?? 0);
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
      'SELECT state, COUNT(*) AS n FROM record_changes WHERE change_set_id = ? AND position >= 0 GROUP BY state',
      [set],
      manager,
    );
  }

  /** The same of what was sent of it. */
  sentByState(set: number, manager: EntityManager): Promise<StateCount[]> {
    const sql = `SELECT state, COUNT(*) AS n FROM record_changes
      WHERE change_set_id = ? AND position >= 0 AND tried_at IS NOT NULL GROUP BY state`;
    return this.db.rows(sql, [set], manager);
  }

  /** The same of several sets. */
  byStateOf(sets: readonly number[]): Promise<(StateCount & { change_set_id: number })[]> {
    return this.db.rows(
      `SELECT change_set_id, state, COUNT(*) AS n FROM record_changes
       WHERE change_set_id IN (${marks(sets.length)}) AND position >= 0 GROUP BY change_set_id, state`,
      sets,
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

  /** How often, and when last, lists of a door have touched each record set of a domain since a moment. */
  touchedBy(
    domainId: number,
    door: Door,
    since: string,
  ): Promise<{ host: string; type: string; n: number | string; last: string }[]> {
    return this.db.rows(
      `SELECT c.host, c.type, COUNT(DISTINCT s.id) AS n, MAX(s.created_at) AS last
        FROM change_sets s JOIN record_changes c ON c.change_set_id = s.id
        WHERE s.domain_id = ? AND s.door = ? AND s.created_at > ? GROUP BY c.host, c.type`,
      [domainId, door, since],
    );
  }

  /** The names that lists of a domain have changed since a moment, or may have, but what others made there. */
  hostsChangedSince(domainId: number, since: string, manager: EntityManager): Promise<ChangedHosts[]> {
    const which = `s.domain_id = ? AND s.door <> 'provider' AND (s.finished_at IS NULL OR s.finished_at >= ?)`;
    return this.hostsWhere(which, [domainId, since], manager);
  }

  private hostsWhere(which: string, values: SqlValue[], manager: EntityManager): Promise<ChangedHosts[]> {
    const sql = `SELECT DISTINCT c.host, c.host_before FROM record_changes c JOIN change_sets s ON s.id = c.change_set_id WHERE ${which}`;
    return this.db.rows(sql, values, manager);
  }

  hostsOf(set: number): Promise<ChangedHosts[]> {
    return this.db.rows('SELECT DISTINCT host, host_before FROM record_changes WHERE change_set_id = ?', [set]);
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
}

/** Lists that one statement can name. */
export function pieces<T>(list: readonly T[]): T[][] {
  const found: T[][] = [];
  for (let i = 0; i < list.length; i += SOME) found.push(list.slice(i, i + SOME));
  return found;
}
