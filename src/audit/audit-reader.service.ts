import { Injectable } from '@nestjs/common';
import { errors } from '../common/errors.js';
import { orderBy, pageSql } from '../common/paging.dto.js';
import { Db, type SqlValue } from '../database/db.js';
import { unknownSort } from '../database/lists.js';
import type { AuditFilter, AuditList, AuditQuery, AuditView } from './audit.dto.js';
import type { AuditLog } from './audit.entity.js';
import { AuditLinker, parsed } from './linker.service.js';
import {
  allOf,
  COUNTED,
  type Condition,
  glob,
  idsOf,
  isNarrowed,
  LOOKED,
  type Part,
  partOf,
  searchOf,
} from './search.js';
import { type Pending, StrangersLog } from './strangers-log.service.js';

const DEFAULT_LIMIT = 20;
/** rows of one look of an export: with more, their garbage lives longer */
const BATCH = 200;
const FAILED = 'auth.login_failed';
const SORTS = { created_at: 'found_at' };
/** by nothing more: PostgreSQL would sort all that is found, since no index goes on by the number */
const NEWEST = 'found_at DESC';
const ALL = 'SELECT (SELECT MAX(seq) FROM audit_logs) - (SELECT MIN(seq) FROM audit_logs) + 1 AS n';
const COLUMNS = `id, seq, created_at, actor_type, user_id, username, token_id, token_name, action, domain, domain_id, target,
  state_before, state_after, result, error, ip, user_agent, request_id, change_set_id, prev_hash, hash`;

type Row = Omit<AuditLog, 'target' | 'state_before' | 'state_after'> &
  Record<'target' | 'state_before' | 'state_after', string | null>;

type Page = { page: number; limit: number };
interface Found {
  rows: Row[];
  total: number;
  /** false: there are more */
  exact: boolean;
}

/** How many there are, where a page is the last one; null: it does not tell. */
const totalOf = (rows: readonly Row[], { page, limit }: Page): number | null =>
  rows.length < limit && (rows.length || page === 1) ? (page - 1) * limit + rows.length : null;

/** How often an entry stands for, by its state. */
const countOf = (state: string | null): number => {
  const { count } = (parsed(state) ?? {}) as { count?: unknown };
  return typeof count === 'number' ? count : 1;
};

const view = (row: Row): AuditView => ({
  id: row.id,
  seq: row.seq,
  created_at: row.created_at,
  actor: {
    type: row.actor_type,
    user_id: row.user_id,
    username: row.username,
    token_id: row.token_id,
    token_name: row.token_name,
  },
  action: row.action,
  domain: row.domain,
  domain_id: row.domain_id,
  target: parsed(row.target) as AuditView['target'],
  before: parsed(row.state_before) as AuditView['before'],
  after: parsed(row.state_after) as AuditView['after'],
  result: row.result,
  error: row.error,
  ip: row.ip,
  user_agent: row.user_agent,
  request_id: row.request_id,
  change_set_id: row.change_set_id,
  prev_hash: row.prev_hash,
  hash: row.hash,
});

@Injectable()
export class AuditReader {
  constructor(
    private readonly db: Db,
    private readonly linker: AuditLinker,
    private readonly strangers: StrangersLog,
  ) {}

  /**
   * Newest first, with all that is written when it is called: it links what is not linked yet.
   * @param zone where days begin
   * @throws AppError 400001
   */
  async list(query: AuditQuery, zone: string): Promise<AuditList & { page: number; limit: number }> {
    const search = searchOf(query, zone);
    const { page = 1, limit = DEFAULT_LIMIT } = query;
    const order = orderBy(query.sort, SORTS, '-created_at', 'found_id');
    if (!order) throw unknownSort(SORTS);
    await this.linker.linkIfPossible();
    const part = await partOf(this.db, search);
    const asked = { page, limit };
    const { rows, total, exact } = await (part.looked.length
      ? this.searched(part, order, asked)
      : this.found(part, order, asked));
    const total_exact = exact && part.before === null;
    return { total, total_exact, next_until: part.before, list: rows.map(view), page, limit };
  }

  /** A page of what one index finds, all of it; without any filter it is counted by the numbers, which have no gaps. */
  private async found({ found }: Part, order: string, page: Page): Promise<Found> {
    const [end, cut] = pageSql(page);
    const [ids, values] = idsOf(found, order, end);
    const rows = await this.db.rows<Row>(
      `SELECT ${COLUMNS} FROM ${ids} JOIN audit_logs ON id = found_id ORDER BY ${order}`,
      [...values, ...cut],
    );
    if (!isNarrowed(found)) return { rows, total: await this.number(ALL), exact: true };
    const [some, which] = idsOf(found, NEWEST, ` LIMIT ${COUNTED + 1}`);
    const n = totalOf(rows, page) ?? (await this.number(`SELECT COUNT(*) AS n FROM ${some}`, which));
    return { rows, total: Math.min(n, COUNTED), exact: n <= COUNTED };
  }

  /** A page of what matches of the newest entries that one index finds. */
  private async searched({ found, looked }: Part, order: string, page: Page): Promise<Found> {
    const [end, cut] = pageSql(page);
    const [ids, values] = idsOf(found, NEWEST, ` LIMIT ${LOOKED}`);
    const [where, rest] = allOf(looked);
    const from = `${ids} JOIN audit_logs ON id = found_id WHERE ${where}`;
    const all = [...values, ...rest];
    const rows = await this.db.rows<Row>(`SELECT ${COLUMNS} FROM ${from} ORDER BY ${order}${end}`, [...all, ...cut]);
    const total = totalOf(rows, page) ?? (await this.number(`SELECT COUNT(*) AS n FROM ${from}`, all));
    return { rows, total, exact: true };
  }

  private async number(sql: string, values: readonly SqlValue[] = []): Promise<number> {
    return Number((await this.db.row<{ n: number | null }>(sql, values))?.n ?? 0);
  }

  /** @throws AppError 404001 */
  async get(id: number): Promise<AuditView> {
    await this.linker.linkIfPossible();
    const row = await this.db.row<Row>(`SELECT ${COLUMNS} FROM audit_logs WHERE id = ?`, [id]);
    if (!row) throw errors.notFound('Audit entry');
    return view(row);
  }

  /**
   * All entries that match, in the order of their numbers, some at a time: those that are linked when it begins.
   * @throws AppError 400001, before the first ones
   */
  async *all(query: AuditFilter, zone: string): AsyncGenerator<AuditView[]> {
    const { times, indexed, others } = searchOf(query, zone);
    const [where, values] = allOf([...times, ...indexed, ...others]);
    await this.linker.linkIfPossible();
    const end = await this.db.row<{ seq: number | null }>('SELECT MAX(seq) AS seq FROM audit_logs');
    for (let after = 0; ; ) {
      const rows = await this.db.rows<Row>(
        `SELECT ${COLUMNS} FROM audit_logs WHERE ${where} AND seq > ? AND seq <= ? ORDER BY seq LIMIT ${BATCH}`,
        [...values, after, end?.seq ?? 0],
      );
      if (rows.length) yield rows.map(view);
      if (rows.length < BATCH) return;
      after = rows.at(-1)?.seq as number;
    }
  }

  /**
   * When things happened that match, since a moment, the newest first: at most `most` entries, each with how often it
   * stands for (what a stranger repeated within a minute is one).
   */
  async timesOf(
    { action, domain, actor }: Readonly<Record<'action' | 'domain' | 'actor', string | null>>,
    since: string,
    most: number,
  ): Promise<{ created_at: string; count: number }[]> {
    const conditions: Condition[] = [{ sql: 'created_at > ?', values: [since] }];
    if (action !== null) conditions.push(glob('action', action));
    if (domain !== null) conditions.push(glob('domain', domain.toLowerCase()));
    if (actor === 'system') conditions.push({ sql: `actor_type = 'system'`, values: [] });
    else if (actor !== null) conditions.push(glob('LOWER(username)', actor.toLowerCase()));
    const [where, values] = allOf(conditions);
    await this.linker.linkIfPossible();
    const rows = await this.db.rows<{ created_at: string; repeated: string | null }>(
      `SELECT created_at, CASE WHEN actor_type = 'user' AND user_id IS NULL THEN state_after END AS repeated
         FROM audit_logs WHERE ${where} ORDER BY created_at DESC LIMIT ?`,
      [...values, most],
    );
    return rows.map(({ created_at, repeated }) => ({ created_at, count: countOf(repeated) }));
  }

  /** Sign-ins (`auth.login`) and failed ones (`auth.login_failed`) by hour of UTC (`2026-01-02T03`), since a moment. */
  async loginsByHour(since: string): Promise<{ hour: string; action: string; count: number }[]> {
    const hour = (time: string) => time.slice(0, 13);
    const rows = await this.logins('substr(created_at, 1, 13)', since, (pending) => hour(pending.created_at));
    return rows.map(({ by, ...counts }) => ({ hour: by, ...counts }));
  }

  /** The same by client address. */
  async loginsByAddress(since: string): Promise<{ ip: string; action: string; count: number }[]> {
    const rows = await this.logins('ip', since, (pending) => pending.ip);
    return rows.map(({ by, ...counts }) => ({ ip: by, ...counts }));
  }

  /**
   * A row that stands for several failures counts as many as it says; those that have no row yet count, too. A group
   * may come in parts.
   */
  private async logins(
    by: string,
    since: string,
    of: (pending: Pending) => string,
  ): Promise<{ by: string; action: string; count: number }[]> {
    await this.linker.linkIfPossible();
    const rows = await this.db.rows<{ grouped: string; action: string; n: number }>(
      `SELECT ${by} AS grouped, action, COUNT(*) AS n FROM audit_logs
        WHERE action IN ('auth.login', '${FAILED}') AND created_at >= ? GROUP BY ${by}, action`,
      [since],
    );
    const several = await this.db.rows<{ grouped: string; state_after: string; n: number }>(
      `SELECT ${by} AS grouped, state_after, COUNT(*) AS n FROM audit_logs
        WHERE action = '${FAILED}' AND created_at >= ? AND state_after IS NOT NULL GROUP BY ${by}, state_after`,
      [since],
    );
    return [
      ...rows.map(({ grouped, action, n }) => ({ by: grouped, action, count: Number(n) })),
      ...several.map(({ grouped, state_after, n }) => ({
        by: grouped,
        action: FAILED,
        count: Number(n) * (countOf(state_after) - 1),
      })),
      ...this.strangers.pending(FAILED).map((pending) => ({ by: of(pending), action: FAILED, count: pending.count })),
    ];
  }
}
