import { Injectable } from '@nestjs/common';
import { errors } from '../common/errors.js';
import { parseTime } from '../common/validation.js';
import { Db, type SqlValue } from '../database/db.js';
import { listRows } from '../database/lists.js';
import type { AuditList, AuditQuery, AuditVerdict, AuditView } from './audit.dto.js';
import type { AuditLog } from './audit.entity.js';
import { entryHash } from './audit.service.js';
import { type Pending, StrangersLog } from './strangers-log.service.js';

const DEFAULT_LIMIT = 20;
const BATCH = 1000;
const FAILED = 'auth.login_failed';
const DAY_MS = 86_400_000;
const COLUMNS = `id, seq, created_at, actor_type, user_id, username, token_id, token_name, action, domain, domain_id, target,
  state_before, state_after, result, error, ip, user_agent, request_id, change_set_id, prev_hash, hash`;

type Row = Omit<AuditLog, 'target' | 'state_before' | 'state_after'> &
  Record<'target' | 'state_before' | 'state_after', string | null>;

const parse = (text: string | null) => (text === null ? null : JSON.parse(text));

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
  target: parse(row.target),
  before: parse(row.state_before),
  after: parse(row.state_after),
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
    private readonly strangers: StrangersLog,
  ) {}

  /** Newest first. @throws AppError 400001 */
  async list(query: AuditQuery): Promise<AuditList & { page: number; limit: number }> {
    const [where, values] = filter(query);
    const limit = query.limit ?? DEFAULT_LIMIT;
    const page = query.page ?? 1;
    if (query.sort && !['created_at', '-created_at'].includes(query.sort)) {
      throw errors.field('sort', 'must be created_at or -created_at', 'choice', {
        values: ['created_at', '-created_at'],
      });
    }
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
        search: ['LOWER(username)', 'LOWER(target)'],
      },
    );
    return { total, list: list.map(view), page, limit };
  }

  /** @throws AppError 404001 */
  async get(id: number): Promise<AuditView> {
    const row = await this.db.row<Row>(`SELECT ${COLUMNS} FROM audit_logs WHERE id = ?`, [id]);
    if (!row) throw errors.notFound('Audit entry');
    return view(row);
  }

  /** Recomputes the chain: finds entries that were changed, removed or slipped in. */
  async verify(): Promise<AuditVerdict> {
    let seq = 0;
    let previous = '';
    for (;;) {
      const rows = await this.db.rows<Row>(
        `SELECT ${COLUMNS} FROM audit_logs WHERE seq > ? ORDER BY seq LIMIT ${BATCH}`,
        [seq],
      );
      for (const row of rows) {
        const { target, state_before, state_after, ...plain } = row;
        const json = { target: parse(target), state_before: parse(state_before), state_after: parse(state_after) };
        const good =
          row.seq === seq + 1 && row.prev_hash === previous && row.hash === entryHash(previous, { ...plain, ...json });
        if (!good) return { ok: false, checked: seq, broken_seq: seq + 1 };
        seq = row.seq;
        previous = row.hash;
      }
      if (rows.length < BATCH) break;
    }
    const end = await this.db.row<{ seq: number; hash: string }>('SELECT seq, hash FROM audit_chain WHERE id = 1');
    // entries may have been appended since the last batch was read; a chain that ends before its recorded end was cut
    const whole = end !== undefined && (end.seq > seq ? await this.exists(seq + 1) : end.hash === previous);
    return { ok: whole, checked: seq, broken_seq: whole ? null : seq + 1 };
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

  private async exists(seq: number): Promise<boolean> {
    return (await this.db.row('SELECT id FROM audit_logs WHERE seq = ?', [seq])) !== undefined;
  }
}

function filter(query: AuditQuery): [string, SqlValue[]] {
  const where = ['1 = 1'];
  const values: SqlValue[] = [];
  const glob = (column: string, text: string | undefined) => {
    if (text === undefined) return;
    where.push(text.includes('*') ? `${column} LIKE ? ESCAPE '!'` : `${column} = ?`);
    values.push(text.includes('*') ? text.replace(/[!%_]/g, '!$&').replaceAll('*', '%') : text);
  };
  const day = (name: 'start_date' | 'end_date', offset: number): string | null => {
    const text = query[name];
    if (text === undefined) return null;
    const start = parseTime(text);
    if (!start) throw errors.field(name, 'is not a day of the calendar');
    return new Date(Date.parse(start) + offset).toISOString();
  };
  glob('domain', query.domain?.toLowerCase());
  glob('action', query.action);
  const from = day('start_date', 0);
  const until = day('end_date', DAY_MS - 1);
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
  return [where.join(' AND '), values];
}
