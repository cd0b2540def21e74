import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { CacheRow } from '../../cache/reconcile.js';
import { Db, marks, type SqlValue } from '../../platform/database/db.js';
import { type ChangedState, stateOf, storedState } from '../history/states.js';
import type { DriftSet } from './drift.entity.js';

/** Name and type of a record set. */
export type SetName = Pick<DriftSet, 'host' | 'type'>;
export type StoredSet = Omit<DriftSet, 'domain' | 'told'> & { told: boolean | number };

/** A record that a set shall hold, with the id that it had. */
export interface WantedRecord {
  id: number;
  state: ChangedState;
}

const SET = 'id, domain_id, host, type, found_at, plan_id, hold_reason, told';
/** rows of one INSERT */
const CHUNK = 50;
/** sets, or ids, that one statement names */
const SOME = 100;

/** Record sets that somebody changed at the provider, with what they shall hold. */
@Injectable()
export class DriftSetsRepository {
  constructor(private readonly db: Db) {}

  /** Stores sets that are not there yet, with what they shall hold. */
  async insert(
    domainId: number,
    sets: readonly (SetName & { wanted: readonly CacheRow[] })[],
    at: string,
    manager: EntityManager,
  ): Promise<void> {
    for (const some of pieces(sets, CHUNK)) {
      const values = some.flatMap(({ host, type }): SqlValue[] => [domainId, host, type, at, false]);
      const sql = `INSERT INTO drift_sets (domain_id, host, type, found_at, told)
        VALUES ${some.map(() => '(?, ?, ?, ?, ?)').join(', ')}`;
      await this.db.run(sql, values, manager);
    }
    const ids = new Map((await this.those(domainId, sets, manager)).map((set) => [nameOf(set), set.id]));
    const states = sets.flatMap((set) =>
      set.wanted.map((row): SqlValue[] => [ids.get(nameOf(set)) as number, row.id, ...storedState(row)]),
    );
    for (const some of pieces(states, CHUNK)) {
      const sql = `INSERT INTO drift_states (set_id, record_id, state, value)
        VALUES ${some.map(() => '(?, ?, ?, ?)').join(', ')}`;
      await this.db.run(sql, some.flat(), manager);
    }
  }

  /** Those of some sets of a domain that are stored. */
  async those(domainId: number, sets: readonly SetName[], manager?: EntityManager): Promise<StoredSet[]> {
    const found: StoredSet[] = [];
    for (const some of pieces(sets, SOME)) {
      const sql = `SELECT ${SET} FROM drift_sets WHERE domain_id = ? AND (${anyOf(some)})`;
      found.push(...(await this.db.rows<StoredSet>(sql, [domainId, ...valuesOf(some)], manager)));
    }
    return found;
  }

  /** All of a domain, by their names: so many of them. */
  page(domainId: number, limit: number, offset: number, manager?: EntityManager): Promise<StoredSet[]> {
    const sql = `SELECT ${SET} FROM drift_sets WHERE domain_id = ? ORDER BY host, type LIMIT ? OFFSET ?`;
    return this.db.rows(sql, [domainId, limit, offset], manager);
  }

  /** How many a domain has, and the newest plan that waits for one. */
  async summary(domainId: number): Promise<{ total: number; planId: number | null }> {
    const sql = 'SELECT COUNT(*) AS n, MAX(plan_id) AS plan_id FROM drift_sets WHERE domain_id = ?';
    const row = await this.db.row<{ n: number | string; plan_id: number | null }>(sql, [domainId]);
    return { total: Number(row?.n ?? 0), planId: row?.plan_id ?? null };
  }

  /** What some sets shall hold, by their ids. */
  async wanted(ids: readonly number[], manager?: EntityManager): Promise<Map<number, WantedRecord[]>> {
    const found = new Map<number, WantedRecord[]>(ids.map((id) => [id, []]));
    for (const some of pieces(ids, SOME)) {
      const sql = `SELECT set_id, record_id, state, value FROM drift_states WHERE set_id IN (${marks(some.length)})
        ORDER BY set_id, record_id`;
      type Row = { set_id: number; record_id: number; state: string; value: string };
      for (const { set_id, record_id: id, state, value } of await this.db.rows<Row>(sql, some, manager))
        found.get(set_id)?.push({ id, state: stateOf(state, value) as ChangedState });
    }
    return found;
  }

  /** These have become something else again: what was worked out on them is old. */
  async renew(ids: readonly number[], manager: EntityManager): Promise<void> {
    for (const some of pieces(ids, SOME))
      await this.db.run(`UPDATE drift_sets SET plan_id = NULL WHERE id IN (${marks(some.length)})`, some, manager);
  }

  /** These are not taken back by themselves: they wait with a plan, or for a reason. */
  async hold(
    ids: readonly number[],
    fields: Pick<DriftSet, 'plan_id' | 'hold_reason' | 'told'>,
    manager: EntityManager,
  ): Promise<void> {
    const { plan_id, hold_reason, told } = fields;
    for (const some of pieces(ids, SOME)) {
      const sql = `UPDATE drift_sets SET plan_id = ?, hold_reason = ?, told = ? WHERE id IN (${marks(some.length)})`;
      await this.db.run(sql, [plan_id, hold_reason, told, ...some], manager);
    }
  }

  /** Nothing is in the way of those of a domain any more. */
  async release(domainId: number, manager: EntityManager): Promise<void> {
    const sql = 'UPDATE drift_sets SET plan_id = NULL, hold_reason = NULL, told = ? WHERE domain_id = ?';
    await this.db.run(sql, [false, domainId], manager);
  }

  /** What some sets hold is wanted. */
  async drop(domainId: number, sets: readonly SetName[], manager: EntityManager): Promise<void> {
    for (const some of pieces(sets, SOME)) {
      const sql = `DELETE FROM drift_sets WHERE domain_id = ? AND (${anyOf(some)})`;
      await this.db.run(sql, [domainId, ...valuesOf(some)], manager);
    }
  }

  /** What all sets of a domain hold is wanted. */
  async dropAll(domainId: number, manager: EntityManager): Promise<void> {
    await this.db.run('DELETE FROM drift_sets WHERE domain_id = ?', [domainId], manager);
  }
}

/** A text that names a set. */
export const nameOf = ({ host, type }: SetName): string => `${type} ${host}`;
/** The set that such a text names. */
export function setOf(name: string): SetName {
  const [type = ''] = name.split(' ', 1);
  return { type, host: name.slice(type.length + 1) };
}

const anyOf = (sets: readonly SetName[]): string => sets.map(() => '(host = ? AND type = ?)').join(' OR ');
const valuesOf = (sets: readonly SetName[]): string[] => sets.flatMap(({ host, type }) => [host, type]);

function* pieces<T>(list: readonly T[], size: number): Generator<T[]> {
  for (let i = 0; i < list.length; i += size) yield list.slice(i, i + size);
}
