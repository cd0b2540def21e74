import { Injectable } from '@nestjs/common';
import { errors } from '../common/errors.js';
import { contains } from '../common/paging.dto.js';
import { parseTime } from '../common/validation.js';
import { dayStart } from '../common/zone.js';
import { Db, type SqlValue } from '../database/db.js';
import { listRows } from '../database/lists.js';
import type { AuditFilter, AuditList, AuditQuery, AuditView } from './audit.dto.js';
import type { AuditLog } from './audit.entity.js';
import { Counts } from './counts.js';
import { AuditLinker, parsed } from './linker.service.js';
import { type Pending, StrangersLog } from './strangers-log.service.js';

const DEFAULT_LIMIT = 20;
/** rows of one look of an export: with more, their garbage lives longer */
const BATCH = 200;
const FAILED = 'auth.login_failed';
const SEARCH = ['LOWER(username)', 'LOWER(target)'];
const COLUMNS = `id, seq, created_at, actor_type, user_id, username, token_id, token_name, action, domain, domain_id, target,
  state_before, state_after, result, error, ip, user_agent, request_id, change_set_id, prev_hash, hash`;

type Row = Omit<AuditLog, 'target' | 'state_before' | 'state_after'> &
  Record<'target' | 'state_before' | 'state_after', string | null>;

/** A moment as text that sorts: those outside of the four-digit years are of nobody's log. */
const textOf = (time: number): string => {
  const text = new Date(time).toISOString();
  return text.startsWith('+') ? '9999-12-31T23:59:59.999Z' : text.startsWith('-') ? '0000-01-01T00:00:00.000Z' : text;
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
  private readonly counts: Counts;

  constructor(
    private readonly db: Db,
    private readonly linker: AuditLinker,
    private readonly strangers: StrangersLog,
  ) {
    this.counts = new Counts(db);
  }

  /**
   * Newest first, with all that is written when it is called: it links what is not linked yet.
   * @param zone where days begin
   * @throws AppError 400001
   */
  async list(query: AuditQuery, zone: string): Promise<AuditList & { page: number; limit: number }> {
    const [where, values] = filter(query, zone, false);
    const limit = query.limit ?? DEFAULT_LIMIT;
    const page = query.page ?? 1;
    if (query.sort && !['created_at', '-created_at'].includes(query.sort)) {
      throw errors.field('sort', 'must be created_at or -created_at', 'choice', {
        values: ['created_at', '-created_at'],
      });
    }
    await this.linker.linkIfPossible();
    const { total, list } = await listRows<Row>(
      this.db,
      { ...query, page, limit },
      {
        columns: COLUMNS,
        from: 'audit_logs',
        where,
        values,
        // entries are numbered in the order in which they were written
        sorts: { created_at: 'id' },
        fallback: '-created_at',
        id: 'id',
        search: SEARCH,
        count: (from, all) => this.counts.of(from, all),
      },
    );
    return { total, list: list.map(view), page, limit };
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
    const [where, values] = filter(query, zone, true);
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
    const where = ['created_at > ?'];
    const values: SqlValue[] = [since];
    const glob = globs(where, values);
    glob('action', action ?? undefined);
    glob('domain', domain?.toLowerCase());
    if (actor === 'system') where.push(`actor_type = 'system'`);
    else glob('LOWER(username)', actor?.toLowerCase());
    await this.linker.linkIfPossible();
    const rows = await this.db.rows<{ created_at: string; repeated: string | null }>(
      `SELECT created_at, CASE WHEN actor_type = 'user' AND user_id IS NULL THEN state_after END AS repeated
         FROM audit_logs WHERE ${where.join(' AND ')} ORDER BY created_at DESC LIMIT ?`,
      [...values, most],
    );
    return rows.map(({ created_at, repeated }) => {
      const { count } = (parsed(repeated) ?? {}) as { count?: unknown };
      return { created_at, count: typeof count === 'number' ? count : 1 };
    });
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
      ...several.map(({ grouped, state_after, n }) => {
        const { count = 1 } = JSON.parse(state_after) as { count?: number };
        return { by: grouped, action: FAILED, count: Number(n) * (count - 1) };
      }),
      ...this.strangers.pending(FAILED).map((pending) => ({ by: of(pending), action: FAILED, count: pending.count })),
    ];
  }
}

/** What adds the condition for a text that is meant exactly, or with `*`. */
const globs = (where: string[], values: SqlValue[]) => (column: string, text: string | undefined) => {
  if (text === undefined) return;
  where.push(text.includes('*') ? `${column} LIKE ? ESCAPE '!'` : `${column} = ?`);
  values.push(text.includes('*') ? text.replace(/[!%_]/g, '!$&').replaceAll('*', '%') : text);
};

/** @param words whether it has to look for the keyword, too */
function filter(query: AuditFilter, zone: string, words: boolean): [string, SqlValue[]] {
  const where = ['1 = 1'];
  const values: SqlValue[] = [];
  const glob = globs(where, values);
  const moment = (name: 'start_date' | 'end_date', later: number): string | null => {
    const text = query[name];
    if (text === undefined) return null;
    if (!parseTime(text)) throw errors.field(name, 'is not a day of the calendar');
    return textOf(dayStart(text, zone, later) - later);
  };
  glob('domain', query.domain?.toLowerCase());
  glob('action', query.action);
  const from = moment('start_date', 0);
  const until = moment('end_date', 1);
  if (from) {
    where.push('created_at >= ?');
    values.push(from);
  }
  if (until) {
    where.push('created_at <= ?');
    values.push(until);
  }
  const { user: username, token_id, request_id, change_set_id, result } = query;
  const exact = { username, token_id, request_id, change_set_id, result };
  for (const [column, value] of Object.entries(exact)) {
    if (value === undefined) continue;
    where.push(`${column} = ?`);
    values.push(value);
  }
  if (words && query.keyword) {
    where.push(`(${SEARCH.map((column) => `${column} LIKE ? ESCAPE '!'`).join(' OR ')})`);
    values.push(...SEARCH.map(() => contains(query.keyword as string)));
  }
  return [where.join(' AND '), values];
}
