import { Injectable } from '@nestjs/common';
import { type Reader, readableSql } from '../../domains/readable-domains.repository.js';
import { Db, marks, type SqlValue } from '../../platform/database/db.js';
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

interface Sql {
  sql: string;
  values: SqlValue[];
}

const SHOWN = VIEW.split(/,\s*/)
  .map((column) => `s.${column}`)
  .join(', ');
const WITH_ZONE = `SELECT ${SHOWN}, d.name AS zone, d.apart`;

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
    const { sql, values } = ofSets(scope, filter);
    const changes = ofChanges(filter);
    // in one form for all databases: each begins with whichever index finds less
    const about = changes ? ` AND s.id IN (SELECT c.change_set_id FROM record_changes c WHERE ${changes.sql})` : '';
    const from = `FROM change_sets s WHERE ${sql}${about}`;
    const found = [...values, ...(changes?.values ?? [])];
    // only the rows of the page are read whole
    const rows = await this.db.rows<ListedSet>(
      `${WITH_ZONE} FROM (SELECT s.id AS set_id ${from} ORDER BY s.id DESC LIMIT ? OFFSET ?) f
         JOIN change_sets s ON s.id = f.set_id JOIN domains d ON d.id = s.domain_id ORDER BY s.id DESC`,
      [...found, limit, offset],
    );
    const count = await this.db.row<{ n: number | string }>(`SELECT COUNT(*) AS n ${from}`, found);
    return { rows, total: Number(count?.n) };
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

/** Conditions on `change_sets s`. */
function ofSets(scope: Scope, { door, state, actor, from, to }: SetFilter): Sql {
  const [where, narrowing]: [string, SqlValue[]] =
    typeof scope === 'number' ? ['s.domain_id = ?', [scope]] : readableSql(scope, 's.domain_id');
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
