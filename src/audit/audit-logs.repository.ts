import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { contains, orderBy, pageSql } from '../platform/common/paging.dto.js';
import { Db, marks, type SqlValue } from '../platform/database/db.js';
import { unknownSort } from '../platform/database/lists.js';
import type { AuditLog } from './audit.entity.js';
import { ENTRY_COLUMNS } from './audit-pending.repository.js';
import { HASHED, type Linked } from './chain.js';
import type { Raw } from './states.js';

/** The columns of a linked entry, in the order in which it is inserted. */
const LINKED_COLUMNS = [...ENTRY_COLUMNS, 'seq', 'prev_hash', 'hash', 'seal'] as const;
const CHAIN_COLUMNS = ['id', ...HASHED, 'change_set_id', 'door', 'prev_hash', 'hash', 'seal'].join(', ');
const SHOWN_COLUMNS = `id, seq, created_at, actor_type, user_id, username, token_id, token_name, action, domain, domain_id, target,
  state_before, state_after, result, error, ip, user_agent, request_id, change_set_id, door, prev_hash, hash`;
/** rows that one statement inserts */
const CHUNK = 20;

const SORTS = { created_at: 'found_at' };
/** without a second column: no index continues with the id, so PostgreSQL would sort all that is found */
const NEWEST = 'found_at DESC';

/** What sign-ins are counted by. */
const GROUPS = { hour: 'substr(created_at, 1, 13)', ip: 'ip' };
export type LoginGroup = keyof typeof GROUPS;
export const FAILED_LOGIN = 'auth.login_failed';

export type LinkedEntry = Raw<Omit<AuditLog, 'id'>>;
type ChainRow = Raw<Linked>;
export type ShownRow = Raw<Omit<AuditLog, 'seal'>>;

export interface Page {
  page: number;
  limit: number;
}

/** The `ORDER BY` of a page of found entries. @throws AppError 400001 for an unknown `sort` */
export function orderOf(sort: string | undefined): string {
  const order = orderBy(sort, SORTS, '-created_at', 'found_id');
  if (!order) throw unknownSort(SORTS);
  return order;
}

const SEARCH = ['LOWER(username)', 'LOWER(target)'];

export interface Condition {
  sql: string;
  values: readonly SqlValue[];
}

/** A condition that an index serves, with the name of the index. */
export interface Indexed extends Condition {
  index: string;
}

/** The entries that one index finds, in the order of time; without `by` the index of the time itself. */
export interface Found {
  times: Condition[];
  by: Indexed | undefined;
}

/** the index that begins with a column and continues with the time */
const INDICES = {
  request_id: 'audit_logs_request_time_ix',
  change_set_id: 'audit_logs_changes_time_ix',
  token_id: 'audit_logs_token_time_ix',
  domain_id: 'audit_logs_domain_id_time_ix',
  ip: 'audit_logs_ip_time_ix',
  domain: 'audit_logs_domain_time_ix',
  username: 'audit_logs_user_time_ix',
  action: 'audit_logs_action_time_ix',
};

const equal = (column: string, value: SqlValue): Condition => ({ sql: `${column} = ?`, values: [value] });

/** A text that matches exactly, or with `*`. */
const glob = (column: string, text: string): Condition =>
  text.includes('*')
    ? { sql: `${column} LIKE ? ESCAPE '!'`, values: [text.replace(/[!%_]/g, '!$&').replaceAll('*', '%')] }
    : equal(column, text);

/** Conditions on entries. */
export const entry = {
  writtenAfter: (time: string): Condition => ({ sql: 'created_at > ?', values: [time] }),
  writtenFrom: (time: SqlValue): Condition => ({ sql: 'created_at >= ?', values: [time] }),
  writtenUntil: (time: SqlValue): Condition => ({ sql: 'created_at <= ?', values: [time] }),
  /** served by an index */
  of: (column: keyof typeof INDICES, value: SqlValue): Indexed => ({
    ...equal(column, value),
    index: INDICES[column],
  }),
  /** a text that matches exactly, or with `*` */
  like: (column: 'domain' | 'action', text: string): Condition => glob(column, text),
  byUser: (text: string): Condition => glob('LOWER(username)', text.toLowerCase()),
  bySystem: (): Condition => ({ sql: `actor_type = 'system'`, values: [] }),
  endedAs: (result: string): Condition => equal('result', result),
  /** `token`, or `token:7`: targets are stored as JSON that begins with these two */
  about: (target: string): Condition => {
    const [, type = '', id] = /^([^:]*)(?::(.*))?$/.exec(target) ?? [];
    const escaped = (text: string) => text.replace(/[!%_]/g, '!$&');
    const ids = id === undefined ? [''] : [`"id":"${id}",`, ...(/^\d+$/.test(id) ? [`"id":${id},`] : [])];
    return {
      sql: `(${ids.map(() => "target LIKE ? ESCAPE '!'").join(' OR ')})`,
      values: ids.map((one) => `${escaped(`{"type":"${type}",${one}`)}%`),
    };
  },
  mentioning: (keyword: string): Condition => ({
    sql: `(${SEARCH.map((column) => `${column} LIKE ? ESCAPE '!'`).join(' OR ')})`,
    values: SEARCH.map(() => contains(keyword)),
  }),
  /** the same condition in a form that no index serves: its index might hold most of the log */
  looked: ({ sql, values }: Condition): Condition => ({ sql: `CASE WHEN ${sql} THEN 1 ELSE 0 END = 1`, values }),
};

/** All conditions as they stand behind `WHERE`, with their values. */
const allOf = (conditions: readonly Condition[]): [string, SqlValue[]] => [
  conditions.map(({ sql }) => sql).join(' AND ') || '1 = 1',
  conditions.flatMap(({ values }) => values),
];

/**
 * What stands behind `FROM`. Only MariaDB and MySQL read the comment: with a last day they would take the index for one
 * of the filter alone, and read it from its newest entry on; when a prepared statement is used again, always.
 */
function entries({ times, by }: Found): [string, SqlValue[]] {
  const [where, values] = allOf(by ? [by, ...times] : times);
  return [`audit_logs${by ? ` /*! FORCE INDEX (${by.index}) */` : ''} WHERE ${where}`, values];
}

/**
 * Id and time of entries that an index finds, as a table `found`: so many of them, in this order of `found_at` and
 * `found_id`. By themselves: a database that is asked for whole entries of a narrow time takes the index of the time.
 */
function idsOf(found: Found, order: string, cut: string): [string, SqlValue[]] {
  const [from, values] = entries(found);
  const ids = `SELECT id AS found_id, created_at AS found_at FROM ${from} ORDER BY ${order}${cut}`;
  return [`(${ids}) found`, values];
}

/** The entries among the newest so many of an index that meet further conditions, as they stand behind `FROM`. */
function filtered(found: Found, conditions: readonly Condition[], newest: number): [string, SqlValue[]] {
  const [ids, values] = idsOf(found, NEWEST, ` LIMIT ${newest}`);
  const [where, rest] = allOf(conditions);
  return [`${ids} JOIN audit_logs ON id = found_id WHERE ${where}`, [...values, ...rest]];
}

/** The table `audit_logs`. */
@Injectable()
export class AuditLogsRepository {
  constructor(private readonly db: Db) {}

  async insert(linked: readonly LinkedEntry[], manager?: EntityManager): Promise<void> {
    const one = `(${marks(LINKED_COLUMNS.length)})`;
    for (let i = 0; i < linked.length; i += CHUNK) {
      const some = linked.slice(i, i + CHUNK);
      await this.db.run(
        `INSERT INTO audit_logs (${LINKED_COLUMNS.join(', ')}) VALUES ${some.map(() => one).join(', ')}`,
        some.flatMap((entry) => LINKED_COLUMNS.map((column) => entry[column])),
        manager,
      );
    }
  }

  async removeUpTo(seq: number, manager?: EntityManager): Promise<void> {
    await this.db.run('DELETE FROM audit_logs WHERE seq <= ?', [seq], manager);
  }

  async hashOf(seq: number, manager?: EntityManager): Promise<string | undefined> {
    const sql = 'SELECT hash FROM audit_logs WHERE seq = ?';
    return (await this.db.row<{ hash: string }>(sql, [seq], manager))?.hash;
  }

  /** The number of the newest entry; 0 when there is none. */
  async newestSeq(): Promise<number> {
    return (await this.seq('SELECT MAX(seq) AS seq FROM audit_logs')) ?? 0;
  }

  /** The lowest number of the entries that were written at a moment or later; null when there is none. */
  firstSeqSince(time: string, manager?: EntityManager): Promise<number | null> {
    return this.seq('SELECT MIN(seq) AS seq FROM audit_logs WHERE created_at >= ?', [time], manager);
  }

  /** Entries of the chain behind one number and up to another, in order, with all that is hashed. */
  chainRows(after: number, until: number, limit: number, manager?: EntityManager): Promise<ChainRow[]> {
    const sql = `SELECT ${CHAIN_COLUMNS} FROM audit_logs WHERE seq > ? AND seq <= ? ORDER BY seq, id LIMIT ${limit}`;
    return this.db.rows(sql, [after, until], manager);
  }

  /** The number of the first entry behind the recorded end of the chain; null when there is none. */
  firstSeqBeyondEnd(): Promise<number | null> {
    return this.seq(
      `SELECT l.seq FROM audit_chain c JOIN audit_logs l ON l.seq > c.seq WHERE c.id = 1
        ORDER BY l.seq LIMIT 1`,
    );
  }

  /** How many entries there are up to a number, and the lowest of their numbers. */
  async countUpTo(seq: number, manager?: EntityManager): Promise<{ count: number; least: number | null }> {
    const all = await this.db.row<{ n: number; least: number | null }>(
      `SELECT COUNT(*) AS n, MIN(seq) AS least FROM audit_logs WHERE seq <= ?`,
      [seq],
      manager,
    );
    const least = all?.least ?? null;
    return { count: Number(all?.n), least: least === null ? null : Number(least) };
  }

  /** The lowest number, up to this one, that several entries have; null when there is none. */
  firstDuplicateSeq(until: number, manager?: EntityManager): Promise<number | null> {
    return this.seq(
      'SELECT seq FROM audit_logs WHERE seq <= ? GROUP BY seq HAVING COUNT(*) > 1 ORDER BY seq LIMIT 1',
      [until],
      manager,
    );
  }

  get(id: number): Promise<ShownRow | undefined> {
    return this.db.row(`SELECT ${SHOWN_COLUMNS} FROM audit_logs WHERE id = ?`, [id]);
  }

  /** A page of all that one index finds. */
  page(found: Found, order: string, page: Page): Promise<ShownRow[]> {
    const [end, cut] = pageSql(page);
    const [ids, values] = idsOf(found, order, end);
    const sql = `SELECT ${SHOWN_COLUMNS} FROM ${ids} JOIN audit_logs ON id = found_id ORDER BY ${order}`;
    return this.db.rows(sql, [...values, ...cut]);
  }

  /** How many entries an index finds, counted up to `most`. */
  count(found: Found, most: number): Promise<number> {
    const [some, values] = idsOf(found, NEWEST, ` LIMIT ${most}`);
    return this.number(`SELECT COUNT(*) AS n FROM ${some}`, values);
  }

  /** The number of all entries, from their numbers, which have no gaps. */
  countAll(): Promise<number> {
    return this.number('SELECT (SELECT MAX(seq) FROM audit_logs) - (SELECT MIN(seq) FROM audit_logs) + 1 AS n');
  }

  /** When the entry behind the newest `count` of an index was written; null when there is none. */
  async createdAtBehind(found: Found, count: number): Promise<string | null> {
    const [from, values] = entries(found);
    const sql = `SELECT created_at FROM ${from} ORDER BY created_at DESC LIMIT 1 OFFSET ${count}`;
    return (await this.db.row<{ created_at: string }>(sql, values))?.created_at ?? null;
  }

  /** A page of the entries among the newest so many of an index that meet further conditions. */
  filteredPage(
    found: Found,
    conditions: readonly Condition[],
    newest: number,
    order: string,
    page: Page,
  ): Promise<ShownRow[]> {
    const [end, cut] = pageSql(page);
    const [from, values] = filtered(found, conditions, newest);
    return this.db.rows(`SELECT ${SHOWN_COLUMNS} FROM ${from} ORDER BY ${order}${end}`, [...values, ...cut]);
  }

  countFiltered(found: Found, conditions: readonly Condition[], newest: number): Promise<number> {
    const [from, values] = filtered(found, conditions, newest);
    return this.number(`SELECT COUNT(*) AS n FROM ${from}`, values);
  }

  /** Matching entries behind one number and up to another, in the order of their numbers. */
  batch(conditions: readonly Condition[], after: number, until: number, limit: number): Promise<ShownRow[]> {
    const [where, values] = allOf(conditions);
    return this.db.rows(
      `SELECT ${SHOWN_COLUMNS} FROM audit_logs WHERE ${where} AND seq > ? AND seq <= ? ORDER BY seq LIMIT ${limit}`,
      [...values, after, until],
    );
  }

  /** When matching entries were written, the newest first; `repeated`: the state after, of anonymous callers. */
  times(conditions: readonly Condition[], most: number): Promise<{ created_at: string; repeated: string | null }[]> {
    const [where, values] = allOf(conditions);
    return this.db.rows(
      `SELECT created_at, CASE WHEN actor_type = 'user' AND user_id IS NULL THEN state_after END AS repeated
         FROM audit_logs WHERE ${where} ORDER BY created_at DESC LIMIT ?`,
      [...values, most],
    );
  }

  /** Numbers of entries of sign-ins since a moment, failed ones included. */
  async countLogins(group: LoginGroup, since: string): Promise<{ grouped: string; action: string; count: number }[]> {
    const by = GROUPS[group];
    const rows = await this.db.rows<{ grouped: string; action: string; n: number }>(
      `SELECT ${by} AS grouped, action, COUNT(*) AS n FROM audit_logs
        WHERE action IN ('auth.login', '${FAILED_LOGIN}') AND created_at >= ? GROUP BY ${by}, action`,
      [since],
    );
    return rows.map(({ grouped, action, n }) => ({ grouped, action, count: Number(n) }));
  }

  /** Numbers of entries of failed sign-ins that have a state after, since a moment, by that state, too. */
  async countFailedLogins(
    group: LoginGroup,
    since: string,
  ): Promise<{ grouped: string; state_after: string; count: number }[]> {
    const by = GROUPS[group];
    const rows = await this.db.rows<{ grouped: string; state_after: string; n: number }>(
      `SELECT ${by} AS grouped, state_after, COUNT(*) AS n FROM audit_logs
        WHERE action = '${FAILED_LOGIN}' AND created_at >= ? AND state_after IS NOT NULL GROUP BY ${by}, state_after`,
      [since],
    );
    return rows.map(({ grouped, state_after, n }) => ({ grouped, state_after, count: Number(n) }));
  }

  private async seq(sql: string, values: SqlValue[] = [], manager?: EntityManager): Promise<number | null> {
    const seq = (await this.db.row<{ seq: number | null }>(sql, values, manager))?.seq ?? null;
    return seq === null ? null : Number(seq);
  }

  private async number(sql: string, values: readonly SqlValue[] = []): Promise<number> {
    return Number((await this.db.row<{ n: number | null }>(sql, values))?.n ?? 0);
  }
}
