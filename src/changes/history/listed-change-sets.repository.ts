import { Injectable } from '@nestjs/common';
import { type Reader, readableBy, readableSql } from '../../domains/readable-domains.repository.js';
import { Db, marks, type SqlValue } from '../../platform/database/db.js';
import { type Counted, countedRows, TOTAL } from '../../platform/database/lists.js';
import type { ChangeSet, Door } from './change-set.entity.js';
import { VIEW } from './change-sets.repository.js';
import type { StoredChange } from './record-changes.repository.js';

/** Which sets; names and types as they are stored. */
export interface SetFilter {
  door?: Door | undefined;
  state?: string | undefined;
  /** id of a user, whose tokens count, too */
  actor?: number | undefined;
  /** moments, both included */
  from?: string | undefined;
  to?: string | undefined;
  /** some change of it, one for both, is about this host, before it or after it, and this type */
  host?: string | undefined;
  type?: string | undefined;
}

/** One domain, or all that somebody may read. */
export type Scope = number | Reader;

/** A set with the name of its domain. */
export type ListedSet = ChangeSet & { zone: string; apart: string };

/** A change of a set, as far as rules judge it. */
export type JudgedChange = Pick<
  StoredChange,
  'change_set_id' | 'position' | 'state_before' | 'value_before' | 'state_after' | 'value_after'
> & { domain_id: number };

/** A set that waits for something. */
export type WaitingSet = Pick<ListedSet, 'id' | 'domain_id' | 'zone' | 'apart' | 'created_at'> & { changes: number };

interface Sql {
  sql: string;
  values: SqlValue[];
}

const SHOWN = VIEW.split(/,\s*/)
  .map((column) => `s.${column}`)
  .join(', ');
const WITH_ZONE = `SELECT ${SHOWN}, d.name AS zone, d.apart`;

/** so many of the newest sets are looked through before all sets of the domains that somebody may read */
const RECENT = 2000;
const LATELY = `(SELECT id, domain_id FROM change_sets ORDER BY id DESC LIMIT ${RECENT}) s`;

const readsAll = ({ all, only }: Reader): boolean => all && !only;
const isEmpty = (filter: SetFilter): boolean => Object.values(filter).every((value) => value === undefined);

/** Lists of sets over `change_sets`, newest first. */
@Injectable()
export class ListedChangeSetsRepository {
  constructor(private readonly db: Db) {}

  async page(
    scope: Scope,
    filter: SetFilter,
    limit: number,
    offset: number,
  ): Promise<{ rows: ListedSet[]; total: number }> {
    const total = await this.count(scope, filter);
    // what lies behind the middle is read from the end, so that the last page costs what the first one does
    if (offset <= total / 2) return { rows: await this.newest(scope, filter, limit, offset), total };
    const take = Math.min(limit, total - offset);
    if (take <= 0) return { rows: [], total };
    return {
      rows: await this.rows('change_sets s', conditionsOf(scope, filter), take, total - offset - take, 'ASC'),
      total,
    };
  }

  /** The rows of such a page: only these are read whole. */
  async newest(scope: Scope, filter: SetFilter, limit: number, offset: number): Promise<ListedSet[]> {
    if (typeof scope !== 'number' && !readsAll(scope) && isEmpty(filter) && offset + limit <= RECENT) {
      const rows = await this.rows(LATELY, found(scope, filter), limit, offset);
      if (rows.length === limit) return rows;
    }
    return this.rows('change_sets s', conditionsOf(scope, filter), limit, offset);
  }

  private rows(
    from: string,
    { sql, values }: Sql,
    limit: number,
    offset: number,
    order: 'ASC' | 'DESC' = 'DESC',
  ): Promise<ListedSet[]> {
    return this.db.rows(
      `${WITH_ZONE} FROM (SELECT s.id AS set_id FROM ${from} WHERE ${sql} ORDER BY s.id ${order} LIMIT ? OFFSET ?) f
         JOIN change_sets s ON s.id = f.set_id JOIN domains d ON d.id = s.domain_id ORDER BY s.id DESC`,
      [...values, limit, offset],
    );
  }

  private async count(scope: Scope, filter: SetFilter): Promise<number> {
    if (typeof scope !== 'number' && isEmpty(filter)) return this.countAll(scope);
    const { sql, values } = found(scope, filter);
    const count = await this.db.row<{ n: number | string }>(
      `SELECT COUNT(*) AS n FROM change_sets s WHERE ${sql}`,
      values,
    );
    return Number(count?.n);
  }

  /** How many sets the readable domains have: domain by domain, each by an index. */
  private async countAll(reader: Reader): Promise<number> {
    const { mine, where, values } = readableBy(reader);
    const count = await this.db.row<{ n: number | string | null }>(
      `SELECT SUM((SELECT COUNT(*) FROM change_sets s WHERE s.domain_id = mine.id)) AS n FROM ${mine} WHERE ${where}`,
      values,
    );
    return Number(count?.n ?? 0);
  }

  /**
   * Sets of domains that somebody may read, newest first: those of whose changes nobody knows whether they were
   * applied, or those whose rest is held.
   */
  waiting(reader: Reader, why: 'unknown' | 'held', limit: number): Promise<Counted<WaitingSet>> {
    const [readable, values] = readableSql(reader, 's.domain_id');
    const which =
      why === 'unknown' ? "s.state = 'unknown'" : "s.state IN ('open', 'unknown') AND s.hold_reason IS NOT NULL";
    return countedRows(
      this.db,
      `SELECT s.id, s.domain_id, d.name AS zone, d.apart, s.total AS changes, s.created_at, ${TOTAL}
         FROM change_sets s JOIN domains d ON d.id = s.domain_id WHERE ${which} AND ${readable}
        ORDER BY s.id DESC LIMIT ?`,
      [...values, limit],
    );
  }

  /** The changes that a filter is about, the newest set first, behind one of them. */
  changes(scope: Scope, filter: SetFilter, limit: number, after?: JudgedChange): Promise<JudgedChange[]> {
    const { sql, values } = ofSets(scope, filter);
    const changes = ofChanges(filter);
    const behind = after ? ' AND (s.id < ? OR (s.id = ? AND c.position < ?))' : '';
    const place = after ? [after.change_set_id, after.change_set_id, after.position] : [];
    return this.db.rows(
      `SELECT c.change_set_id, c.position, s.domain_id, c.state_before, c.value_before, c.state_after, c.value_after
         FROM change_sets s JOIN record_changes c ON c.change_set_id = s.id
        WHERE ${sql} AND ${changes?.sql ?? '1 = 1'}${behind} ORDER BY s.id DESC, c.position DESC LIMIT ?`,
      [...values, ...(changes?.values ?? []), ...place, limit],
    );
  }

  /** Those with these ids. */
  async some(ids: readonly number[]): Promise<ListedSet[]> {
    if (!ids.length) return [];
    return this.db.rows(
      `${WITH_ZONE} FROM change_sets s JOIN domains d ON d.id = s.domain_id
        WHERE s.id IN (${marks(ids.length)}) ORDER BY s.id DESC`,
      ids,
    );
  }
}

const conditionsOf = (scope: Scope, filter: SetFilter): Sql =>
  typeof scope !== 'number' && readsAll(scope) ? foundByAll(filter) : found(scope, filter);

/** Conditions on `change_sets s`, also those about its changes. */
function found(scope: Scope, filter: SetFilter): Sql {
  return withChanges(ofSets(scope, filter), filter);
}

/** Those of somebody who reads all domains: sets are read in their own order, and the page ends that. */
function foundByAll(filter: SetFilter): Sql {
  // no database makes a join of it, which might begin with the domains
  const isThere = '(SELECT mine.id FROM domains mine WHERE mine.id = s.domain_id) IS NOT NULL';
  return withChanges(ofSets([isThere, []], filter), filter);
}

function withChanges({ sql, values }: Sql, filter: SetFilter): Sql {
  const changes = ofChanges(filter);
  if (!changes) return { sql, values };
  // in one form for all databases: each begins with whichever index finds less
  const about = `s.id IN (SELECT c.change_set_id FROM record_changes c WHERE ${changes.sql})`;
  return { sql: `${sql} AND ${about}`, values: [...values, ...changes.values] };
}

/** Conditions on `change_sets s`. @param scope or a condition in its place, with its values */
function ofSets(scope: Scope | [string, SqlValue[]], { door, state, actor, from, to }: SetFilter): Sql {
  const [where, narrowing] = Array.isArray(scope)
    ? scope
    : typeof scope === 'number'
      ? (['s.domain_id = ?', [scope]] as [string, SqlValue[]])
      : readableSql(scope, 's.domain_id');
  const { sql, values } = all([
    ['s.door = ?', door],
    ['s.state = ?', state],
    ['s.user_id = ?', actor],
    ['s.created_at >= ?', from],
    ['s.created_at <= ?', to],
  ]);
  return { sql: [where, sql].filter(Boolean).join(' AND '), values: [...narrowing, ...values] };
}

/** Conditions on `record_changes c`; null: none is asked for. */
function ofChanges({ host, type }: SetFilter): Sql | null {
  const found = all([
    ['(c.host = ? OR c.host_before = ?)', host, host],
    ['c.type = ?', type],
  ]);
  return found.sql ? found : null;
}

/** Those conditions whose values are given. */
function all(conditions: readonly (readonly [string, ...(SqlValue | undefined)[]])[]): Sql {
  const given = conditions.filter(([, value]) => value !== undefined);
  return {
    sql: given.map(([sql]) => sql).join(' AND '),
    values: given.flatMap(([, ...values]) => values as SqlValue[]),
  };
}
