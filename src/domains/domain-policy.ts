import { Injectable } from '@nestjs/common';
import { type Principal, type Right, Role } from '../common/access.js';
import { errors } from '../common/errors.js';
import { Db, marks, type SqlValue } from '../database/db.js';

/** A domain with its account, as the guard opened it for this request. */
export interface OpenDomain {
  id: number;
  name: string;
  remote_id: string;
  account_id: number;
  account_name: string;
  provider: string;
  owner_id: number | null;
  status: string;
  remark: string;
  records_count: number;
  revision: number;
  expires_at: string | null;
  created_at: string;
  synced_at: string | null;
  /** of the caller who opened it: 1 read, 2 write */
  level?: number;
}

export const TOKEN_DENIED = 'Token does not have permission for this domain';

const READ = 1;
/** The level of access that `level` and `levels` speak of: 1 read, 2 write. */
export const WRITE = 2;
const MAX_NAMED = 500;

/** The columns of an `OpenDomain`, for queries over `domains d JOIN dns_accounts a`. */
export const DOMAIN_COLUMNS = `d.id, d.name, d.remote_id, d.account_id, a.name AS account_name, a.provider, d.owner_id, d.status,
  d.remark, d.records_count, d.revision, d.expires_at, d.created_at, d.synced_at`;

/**
 * Decides every access to domains: the same grants for single checks and for lists. Administrators may do everything; others what they own, and what their
 * teams were given; a token at most what its list of domains allows. Nothing is cached: what was taken away is gone at the next request.
 */
@Injectable()
export class DomainPolicy {
  constructor(private readonly db: Db) {}

  /**
   * The domain, if this right on it is held. One query.
   * @throws AppError 403 (tokens: the specification's message), 404 for an administrator
   */
  async open(me: Principal, id: number, need: Right): Promise<OpenDomain> {
    const [level, values] = this.levelOf(me, id);
    const allowed = me.token?.allowedDomains ?? null;
    if (allowed && !allowed.includes(id)) throw errors.forbidden(TOKEN_DENIED);
    const row = await this.db.row<OpenDomain>(
      `SELECT ${DOMAIN_COLUMNS}, ${level} AS level FROM domains d JOIN dns_accounts a ON a.id = d.account_id WHERE d.id = ?`,
      [...values, id],
    );
    if (!row && me.role >= Role.Admin && !allowed) throw errors.notFound('Domain');
    if (!row || Number(row.level ?? 0) < (need === 'write' ? WRITE : READ)) {
      throw errors.forbidden(me.token ? TOKEN_DENIED : `No ${need} permission on this domain`);
    }
    return { ...row, level: Number(row.level) };
  }

  /**
   * The domains that this principal may read, as the table `mine (id, name)`. Made of the grants alone, so that an ordinary user's list costs what the user
   * has, not what the installation has.
   */
  readable(me: Principal): { mine: string; where: string; values: SqlValue[] } {
    const only = me.token?.allowedDomains;
    const where = only ? (only.length ? `mine.id IN (${marks(only.length)})` : '1 = 0') : '1 = 1';
    const allowed = only ?? [];
    if (me.role >= Role.Admin) return { mine: 'domains mine', where, values: [...allowed] };
    const [grants, values] = grantsOf(me.userId, [], 'name');
    return { mine: `(${grants}) mine`, where, values: [...values, ...allowed] };
  }

  /** The level (1 read, 2 write) of these domains, which are readable. */
  async levels(me: Principal, ids: readonly number[]): Promise<Map<number, number>> {
    if (me.role >= Role.Admin || !ids.length) return new Map(ids.map((id) => [id, WRITE]));
    // a list that long is asked for whole: naming its ids would only make the statement long
    const [grants, values] = grantsOf(me.userId, ids.length > MAX_NAMED ? [] : ids);
    const rows = await this.db.rows<{ id: number; level: number }>(
      `SELECT g.id, MAX(g.level) AS level FROM (${grants}) g GROUP BY g.id`,
      values,
    );
    return new Map(rows.map((row) => [row.id, Number(row.level)]));
  }

  private levelOf(me: Principal, id: number): [string, SqlValue[]] {
    if (me.role >= Role.Admin) return [String(WRITE), []];
    const [grants, values] = grantsOf(me.userId, [id]);
    return [`(SELECT MAX(g.level) FROM (${grants}) g)`, values];
  }
}

/**
 * All grants of a user (or those on some domains): owned domains, and permissions of the user's teams. A write that is limited to hosts is a read here.
 * With `level` a domain comes once a grant, with its level; with `name` once, with its name.
 */
function grantsOf(userId: number, ids: readonly number[], column: 'level' | 'name' = 'level'): [string, SqlValue[]] {
  const among = (id: string) => (ids.length ? ` AND ${id} IN (${marks(ids.length)})` : '');
  const ofTeam = `CASE WHEN p.permission = 'write' AND p.host IS NULL THEN ${WRITE} ELSE ${READ} END AS level`;
  const [team, own, union] =
    column === 'level' ? [ofTeam, `${WRITE} AS level`, 'UNION ALL'] : ['p.domain_name AS name', 'o.name', 'UNION'];
  return [
    `SELECT p.domain_id AS id, ${team} FROM team_members m JOIN domain_permissions p ON p.team_id = m.team_id
      WHERE m.user_id = ?${among('p.domain_id')}
      ${union} SELECT o.id, ${own} FROM domains o WHERE o.owner_id = ?${among('o.id')}`,
    [userId, ...ids, userId, ...ids],
  ];
}
