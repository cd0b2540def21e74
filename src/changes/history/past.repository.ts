import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Db, marks } from '../../platform/database/db.js';
import type { ChangeSet } from './change-set.entity.js';
import type { StoredChange } from './record-changes.repository.js';
import type { Version } from './version.entity.js';

/** A version with who made it; without that, of the first reading. */
export type ListedVersion = Version &
  Pick<ChangeSet, 'user_id' | 'username' | 'token_id' | 'token_name'> & {
    [K in 'door' | 'actor_type' | 'comment']: ChangeSet[K] | null;
  };

/** A record that a version held: the row of now, which nobody has changed since, or the change behind it. */
export interface HeldRecord {
  record_id: number;
  /** null: it is as it was */
  change_id: number | null;
}

/** What became of one record between two versions: its first change and its last one, maybe the same. */
export interface Span {
  record_id: number;
  first_id: number;
  last_id: number;
}

export type StatesOf = Pick<StoredChange, 'id' | 'state_before' | 'value_before' | 'state_after' | 'value_after'>;

/** One change of a record, with the version that it belongs to. */
export type ChangeOf = StatesOf & { version: number; record_id: number };

/** ids that one statement names */
const SOME = 200;

const VIEW = `v.id, v.domain_id, v.version, v.change_set_id, v.inherited, v.created, v.updated, v.deleted, v.created_at,
  s.door, s.actor_type, s.user_id, s.username, s.token_id, s.token_name, s.comment`;
const VERSIONS = `SELECT ${VIEW} FROM versions v LEFT JOIN change_sets s ON s.id = v.change_set_id WHERE v.domain_id = ?`;

/** Each record that was changed behind a version, once, with its first change there. */
const CHANGED = `SELECT record_id, id, state_before,
    ROW_NUMBER() OVER (PARTITION BY record_id ORDER BY version, id) AS nth
  FROM record_changes WHERE domain_id = ? AND version > ? AND record_id > ?`;
/** What a version held, of records with ids beyond one. Each half is in order, so that no more is read than a page. */
const HELD = `SELECT d.id AS record_id, NULL AS change_id FROM dns_records d WHERE d.domain_id = ? AND d.id > ?
    AND NOT EXISTS (SELECT 1 FROM record_changes c WHERE c.record_id = d.id AND c.domain_id = ? AND c.version > ?)
  UNION ALL
  SELECT record_id, id AS change_id FROM (${CHANGED}) changed WHERE nth = 1 AND state_before IS NOT NULL
  ORDER BY record_id LIMIT ? OFFSET ?`;
/** How many records a version held: those of now, less those changed behind it that are there, and those it held. */
const COUNTS = `SELECT (SELECT records_count FROM domains WHERE id = ?) AS present_now, COUNT(d.id) AS present,
    COUNT(state_before) AS held FROM (${CHANGED}) changed LEFT JOIN dns_records d ON d.id = record_id WHERE nth = 1`;
/** Of some records the first change behind a version. */
const firstOf = (count: number): string => `SELECT record_id, id FROM (
    SELECT record_id, id, ROW_NUMBER() OVER (PARTITION BY record_id ORDER BY version, id) AS nth
    FROM record_changes WHERE domain_id = ? AND version > ? AND record_id IN (${marks(count)})) firsts WHERE nth = 1`;

const SPANS = `SELECT record_id, first_id, last_id FROM (
    SELECT record_id,
      FIRST_VALUE(id) OVER (PARTITION BY record_id ORDER BY version, id) AS first_id,
      FIRST_VALUE(id) OVER (PARTITION BY record_id ORDER BY version DESC, id DESC) AS last_id,
      ROW_NUMBER() OVER (PARTITION BY record_id ORDER BY version, id) AS nth
     FROM record_changes WHERE domain_id = ? AND version > ? AND version <= ? AND record_id > ?) spans WHERE nth = 1
  ORDER BY record_id LIMIT ?`;

/** The states that the records of a domain had. */
@Injectable()
export class PastRepository {
  constructor(private readonly db: Db) {}

  /** Newest first. */
  async page(domainId: number, limit: number, offset: number): Promise<{ total: number; rows: ListedVersion[] }> {
    const rows = await this.db.rows<ListedVersion>(`${VERSIONS} ORDER BY v.version DESC LIMIT ? OFFSET ?`, [
      domainId,
      limit,
      offset,
    ]);
    const count = await this.db.row<{ n: number | string }>('SELECT COUNT(*) AS n FROM versions WHERE domain_id = ?', [
      domainId,
    ]);
    return { total: Number(count?.n ?? 0), rows };
  }

  one(domainId: number, version: number): Promise<ListedVersion | undefined> {
    return this.db.row(`${VERSIONS} AND v.version = ?`, [domainId, version]);
  }

  /** The number of the newest; 0: there is none. */
  async newest(domainId: number, manager?: EntityManager): Promise<number> {
    const sql = 'SELECT MAX(version) AS version FROM versions WHERE domain_id = ?';
    return Number((await this.db.row<{ version: number | null }>(sql, [domainId], manager))?.version ?? 0);
  }

  /** How many changes lead from one version to a later one. */
  async countBetween(domainId: number, from: number, to: number): Promise<number> {
    const sql = `SELECT SUM(created + updated + deleted) AS n FROM versions
      WHERE domain_id = ? AND version > ? AND version <= ?`;
    return Number((await this.db.row<{ n: number | string | null }>(sql, [domainId, from, to]))?.n ?? 0);
  }

  /** Records that a version held, in the order of their ids. @param after only those with ids beyond this one */
  held(domainId: number, version: number, after: number, limit: number, offset = 0): Promise<HeldRecord[]> {
    return this.db.rows(HELD, [domainId, after, domainId, version, domainId, version, after, limit, offset]);
  }

  /** How many records a version held. */
  async countHeld(domainId: number, version: number): Promise<number> {
    const values = [domainId, domainId, version, 0];
    const row = await this.db.row<Record<'present_now' | 'present' | 'held', number | string>>(COUNTS, values);
    return Number(row?.present_now ?? 0) - Number(row?.present ?? 0) + Number(row?.held ?? 0);
  }

  /** Of those of some records that were changed behind a version the id of the first change there, by the records. */
  async firstBehind(domainId: number, version: number, ids: readonly number[]): Promise<Map<number, number>> {
    const found = new Map<number, number>();
    for (let i = 0; i < ids.length; i += SOME) {
      const some = ids.slice(i, i + SOME);
      const values = [domainId, version, ...some];
      const rows = await this.db.rows<{ record_id: number; id: number }>(firstOf(some.length), values);
      for (const { record_id, id } of rows) found.set(record_id, id);
    }
    return found;
  }

  /** What became of records from one version to a later one, in the order of their ids, behind this one. */
  spans(domainId: number, from: number, to: number, after: number, limit: number): Promise<Span[]> {
    return this.db.rows(SPANS, [domainId, from, to, after, limit]);
  }

  /** All changes behind a version, in their order. @param at the last one that is known: its version and its id */
  changesBehind(domainId: number, [version, id]: readonly [number, number], limit: number): Promise<ChangeOf[]> {
    return this.db.rows(
      `SELECT id, version, record_id, state_before, value_before, state_after, value_after FROM record_changes
        WHERE domain_id = ? AND version >= ? AND (version > ? OR id > ?) AND record_id IS NOT NULL
        ORDER BY version, id LIMIT ?`,
      [domainId, version, version, id, limit],
    );
  }

  /** What a change set made of each record, all its changes of it together. */
  async stepsOf(domainId: number, changeSet: number): Promise<(Omit<StatesOf, 'id'> & { record_id: number })[]> {
    const sql = `SELECT record_id, state_before, value_before, state_after, value_after FROM record_changes
      WHERE change_set_id = ? AND domain_id = ? AND version IS NOT NULL ORDER BY version, id`;
    const steps = new Map<number, Omit<StatesOf, 'id'> & { record_id: number }>();
    for (const row of await this.db.rows<Omit<StatesOf, 'id'> & { record_id: number }>(sql, [changeSet, domainId])) {
      const { state_before, value_before } = steps.get(row.record_id) ?? row;
      steps.set(row.record_id, { ...row, state_before, value_before });
    }
    return [...steps.values()];
  }

  /** The states of some changes, by their ids. */
  async states(ids: readonly number[]): Promise<Map<number, StatesOf>> {
    const found = new Map<number, StatesOf>();
    for (let i = 0; i < ids.length; i += SOME) {
      const some = ids.slice(i, i + SOME);
      const sql = `SELECT id, state_before, value_before, state_after, value_after FROM record_changes
        WHERE id IN (${marks(some.length)})`;
      for (const row of await this.db.rows<StatesOf>(sql, some)) found.set(row.id, row);
    }
    return found;
  }
}
