import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { toAscii } from '../dns/names.js';
import { contains, orderBy, pageOf, pageSql } from '../platform/common/paging.dto.js';
import { Db, marks, type SqlValue } from '../platform/database/db.js';
import { unknownSort } from '../platform/database/lists.js';
import { READ, WRITE } from './access-rights.js';
import type { DomainQuery } from './domain.dto.js';

/** Where the end of a registration is known from. */
export type ExpirySource = 'manual' | 'rdap' | 'whois' | 'provider';

/** A domain with its account. */
export interface DomainRow {
  id: number;
  name: string;
  /** the zone's id where it is private; else empty */
  apart: string;
  remote_id: string;
  account_id: number;
  account_name: string;
  provider: string;
  owner_id: number | null;
  status: 'active' | 'missing';
  remark: string;
  records_count: number;
  revision: number;
  stale_revision: number | null;
  expires_at: string | null;
  expires_source: ExpirySource | null;
  expires_checked_at: string | null;
  expiry_error: string | null;
  watch_certificates: boolean;
  certificate_port: number;
  /** see `changeRulesOf` */
  change_rules: string | null;
  created_at: string;
  synced_at: string | null;
}

/** One right of a user: READ or WRITE of the whole domain, and a glob of hosts that may be written beyond that. */
export interface Grant {
  level: number;
  host: string | null;
}

/** A domain with one grant on it, if there is one. */
export type GrantedRow = DomainRow & { [K in keyof Grant]: Grant[K] | null };

/** Whose domains a list is narrowed to. */
export interface Reader {
  userId: number;
  /** an administrator reads all */
  all: boolean;
  /** the domains that the limits of a token leave; null: all that its user has */
  only: readonly number[] | null;
}

/** A table `mine (id, name)` of the domains that somebody may read. */
export interface Readable {
  mine: string;
  where: string;
  /** of `mine` and `where` */
  values: SqlValue[];
}

/** What a search is narrowed to: a domain by its id or its name, an account. */
export interface Narrowed {
  domain?: number | string | undefined;
  account_id?: number | undefined;
}

/** What a query narrows a list to. */
interface Filter {
  /** conditions, each with `AND` before it */
  sql: string;
  values: SqlValue[];
  /** they are about columns of `domains d`, which the table of readable domains lacks */
  ofRow: boolean;
}

/** The columns of a `DomainRow`, for queries over `domains d JOIN dns_accounts a`. */
export const DOMAIN_COLUMNS = `d.id, d.name, d.apart, d.remote_id, d.account_id, a.name AS account_name, a.provider, d.owner_id, d.status,
  d.remark, d.records_count, d.revision, d.stale_revision, d.expires_at, d.expires_source, d.expires_checked_at, d.expiry_error,
  d.watch_certificates, d.certificate_port, d.change_rules, d.created_at, d.synced_at`;
const ROWS = 'JOIN domains d ON d.id = mine.id';
const ACCOUNTS = 'JOIN dns_accounts a ON a.id = d.account_id';

/** Columns of the table of readable domains: sorted by them, the page is known before a row of domains is read. */
const SORTS_OF_MINE = { id: 'mine.id', name: 'mine.name' };
const SORTS = {
  ...SORTS_OF_MINE,
  created_at: 'd.created_at',
  records_count: 'd.records_count',
  expires_at: 'd.expires_at',
};

const MAX_NAMED = 500;
/** teams beyond which a list is not put together out of each team's first entries */
const MAX_SOURCES = 50;

/**
 * SQL of what a user may do in domains: owned domains, and permissions of the user's teams. Nothing is cached: what was
 * revoked is gone at the next request.
 */
@Injectable()
export class ReadableDomainsRepository {
  constructor(private readonly db: Db) {}

  /**
   * A domain, or all of a name, or of some names, once for each grant of the user on it, or once without one. This one
   * statement decides each request.
   * @param which id, name or names
   * @param userId null: an administrator, who may write all
   */
  withGrants(which: number | string | readonly string[], userId: number | null): Promise<GrantedRow[]> {
    const admin = userId === null;
    const names = typeof which === 'number' ? null : [which].flat();
    const [grants, values] = admin ? ['', []] : grantsOf(userId, names ?? [which as number]);
    return this.db.rows(
      `SELECT ${DOMAIN_COLUMNS}, ${admin ? `${WRITE} AS level, NULL AS host` : 'g.level, g.host'}
         FROM domains d JOIN dns_accounts a ON a.id = d.account_id ${admin ? '' : `LEFT JOIN (${grants}) g ON g.id = d.id`}
        WHERE ${names ? `d.name IN (${marks(names.length)}) ORDER BY d.id` : 'd.id = ?'}`,
      [...values, ...(names ?? [which as number])],
    );
  }

  /** The grants of a user on domains, at least on these. */
  grants(userId: number, ids: readonly number[]): Promise<(Grant & { id: number })[]> {
    // a list that long is asked for whole: naming its ids would only make the statement long
    const [grants, values] = grantsOf(userId, ids.length > MAX_NAMED ? [] : ids);
    return this.db.rows(grants, values);
  }

  /** A page of the readable domains, and how many there are. @throws AppError 400001 for an unknown `sort` */
  async list(reader: Reader, query: DomainQuery): Promise<{ total: number; list: DomainRow[] }> {
    const order = orderBy(query.sort, SORTS, 'name', 'mine.id');
    if (!order) throw unknownSort(SORTS);
    const [sortedBy, descending] = [query.sort?.replace(/^-/, '') ?? 'name', query.sort?.startsWith('-') ?? false];
    const page = pageOf(query);
    const [end, cut] = pageSql(page);
    const filter = filterOf(query, reader);
    const all = readableBy(reader);
    // by name, and of everything, the first entries of each grant are enough
    const plain = page && sortedBy === 'name' && !filter.sql;
    const cheap = plain ? await this.firstByName(reader, page.page * page.limit, descending) : null;
    const { page: listed, counted } = cheap ?? { page: all, counted: all };
    const where = `WHERE ${listed.where}${filter.sql} ORDER BY ${order}${end}`;
    const from =
      Object.hasOwn(SORTS_OF_MINE, sortedBy) && !filter.ofRow
        ? `(SELECT mine.id, mine.name FROM ${listed.mine} ${where}) mine ${ROWS} ${ACCOUNTS} ORDER BY ${order}`
        : `${listed.mine} ${ROWS} ${ACCOUNTS} ${where}`;
    const values = [...listed.values, ...filter.values, ...cut];
    if (!page) {
      const list = await this.db.rows<DomainRow>(`SELECT ${DOMAIN_COLUMNS} FROM ${from}`, values);
      return { total: list.length, list };
    }
    const count = `SELECT COUNT(*) AS n FROM ${counted.mine} ${filter.ofRow ? ROWS : ''} WHERE ${counted.where}${filter.sql}`;
    const ofCount = [...counted.values, ...filter.values];
    // on a server with the page, since a statement is a round trip; on SQLite it costs less than a sub-query
    const together = !this.db.isSerial;
    const list = await this.db.rows<DomainRow & { total?: number }>(
      `SELECT ${DOMAIN_COLUMNS}${together ? `, (${count}) AS total` : ''} FROM ${from}`,
      [...(together ? ofCount : []), ...values],
    );
    const total = list[0]?.total ?? (await this.db.row<{ n: number }>(count, ofCount))?.n;
    return { total: Number(total), list };
  }

  /** So many of the readable domains, in the order of their names, behind one of them. */
  behind(reader: Reader, limit: number, last: Pick<DomainRow, 'id' | 'name'> | undefined): Promise<DomainRow[]> {
    const { mine, where, values } = readableBy(reader);
    const behind = last ? ' AND mine.name >= ? AND (mine.name > ? OR mine.id > ?)' : '';
    const order = 'ORDER BY mine.name, mine.id';
    return this.db.rows<DomainRow>(
      `SELECT ${DOMAIN_COLUMNS} FROM (SELECT mine.id, mine.name FROM ${mine} WHERE ${where}${behind} ${order} LIMIT ?) mine
         ${ROWS} ${ACCOUNTS} ${order}`,
      [...values, ...(last ? [last.name, last.name, last.id] : []), limit],
    );
  }

  async count(reader: Reader): Promise<number> {
    const { mine, where, values } = readableBy(reader);
    return Number((await this.db.row<{ n: number }>(`SELECT COUNT(*) AS n FROM ${mine} WHERE ${where}`, values))?.n);
  }

  /** Which of these ids are readable domains. */
  async among(reader: Reader, ids: readonly number[], manager?: EntityManager): Promise<Set<number>> {
    const { mine, where, values } = readableBy(reader);
    const rows = await this.db.rows<{ id: number }>(
      `SELECT mine.id FROM ${mine} WHERE ${where} AND mine.id IN (${marks(ids.length)})`,
      [...values, ...ids],
      manager,
    );
    return new Set(rows.map((row) => row.id));
  }

  /**
   * The readable domains for a page that is sorted by name: of each grant only as many as the page can need, in the
   * order of an index, so that a page of 10 000 permissions costs what a page costs. Null where it would not.
   * @param most how many domains there are up to the end of the page
   */
  private async firstByName(
    reader: Reader,
    most: number,
    descending: boolean,
  ): Promise<{ page: Readable; counted: Readable } | null> {
    const { userId, all, only } = reader;
    if (all || only) return null;
    const sources = await this.db.rows<{ team_id: number | null }>(
      `SELECT team_id FROM team_members WHERE user_id = ?
       UNION ALL SELECT NULL FROM users u WHERE u.id = ? AND EXISTS (SELECT 1 FROM domains o WHERE o.owner_id = u.id)`,
      [userId, userId],
    );
    if (sources.length > MAX_SOURCES) return null;
    const direction = descending ? 'DESC' : 'ASC';
    const end = `ORDER BY name ${direction}, id ${direction} LIMIT ?`;
    const ofTeam =
      'SELECT DISTINCT p.domain_id AS id, p.domain_name AS name FROM domain_permissions p WHERE p.team_id = ?';
    const own = 'SELECT o.id, o.name FROM domains o WHERE o.owner_id = ?';
    const values = sources.flatMap(({ team_id }) => [team_id ?? userId, most]);
    const cut = sources.map(
      ({ team_id }, i) => `SELECT id, name FROM (${team_id === null ? own : ofTeam} ${end}) s${i}`,
    );
    const none = 'SELECT id, name FROM domains WHERE 1 = 0';
    // with one source nothing can come twice but what is marked so, and counting compares nothing
    const once =
      'SELECT p.domain_id AS id, p.domain_name AS name FROM domain_permissions p WHERE p.team_id = ? AND p.repeated IS NULL';
    const single = sources.length === 1 ? (sources[0]?.team_id ?? null) : null;
    return {
      page: { mine: `(${cut.join(' UNION ') || none}) mine`, where: '1 = 1', values },
      counted: single === null ? readableBy(reader) : { mine: `(${once}) mine`, where: '1 = 1', values: [single] },
    };
  }
}

/** A condition on a column of another table that holds ids of domains: they are there, and readable. */
export function readableSql(reader: Reader, column: string): [string, SqlValue[]] {
  // in this form the list of an administrator is read in its own order, and ends with its page
  if (reader.all && !reader.only) return [`EXISTS (SELECT 1 FROM domains mine WHERE mine.id = ${column})`, []];
  const { mine, where, values } = readableBy(reader);
  return [`${column} IN (SELECT mine.id FROM ${mine} WHERE ${where})`, values];
}

/**
 * The same for those of them that a search is narrowed to.
 * @param column with a foreign key, or the id of a domain: its domains are there
 */
export function searchedSql(reader: Reader, column: string, { domain, account_id }: Narrowed): [string, SqlValue[]] {
  const narrowed: [string, SqlValue | undefined][] = [
    [typeof domain === 'string' ? 'n.name = ?' : 'n.id = ?', domain],
    ['n.account_id = ?', account_id],
  ];
  const given = narrowed.filter(([, value]) => value !== undefined);
  // nothing at all for an administrator: MariaDB would begin with the domains, and sort what it joins to them
  const [sql, values]: [string, SqlValue[]] = reader.all && !reader.only ? ['1 = 1', []] : readableSql(reader, column);
  if (!given.length) return [sql, values];
  const where = given.map(([one]) => one).join(' AND ');
  return [
    `${column} IN (SELECT n.id FROM domains n WHERE ${where}) AND ${sql}`,
    [...given.map(([, value]) => value as SqlValue), ...values],
  ];
}

/** The readable domains, made of the grants alone: an ordinary user's list costs what that user has. */
export function readableBy({ userId, all, only }: Reader): Readable {
  const where = only ? (only.length ? `mine.id IN (${marks(only.length)})` : '1 = 0') : '1 = 1';
  const named = only ?? [];
  if (all) return { mine: 'domains mine', where, values: [...named] };
  const [grants, values] = grantsOf(userId, [], 'name');
  return { mine: `(${grants}) mine`, where, values: [...values, ...named] };
}

/**
 * All grants of a user (or those on some domains, by ids or by names): owned domains, and permissions of the user's
 * teams. A write that is limited to hosts is a read of the whole, with its `host`. With `level` a domain comes once a
 * grant; with `name` once, with its name.
 */
function grantsOf(
  userId: number,
  only: readonly number[] | readonly string[],
  column: 'level' | 'name' = 'level',
): [string, SqlValue[]] {
  const byName = typeof only[0] === 'string';
  const among = (id: string, name: string) =>
    only.length ? ` AND ${byName ? name : id} IN (${marks(only.length)})` : '';
  const ofTeam = `CASE WHEN p.permission = 'write' AND p.host IS NULL THEN ${WRITE} ELSE ${READ} END AS level,
    CASE WHEN p.permission = 'write' THEN p.host END AS host`;
  const [team, own, union] =
    column === 'level'
      ? [ofTeam, `${WRITE} AS level, NULL AS host`, 'UNION ALL']
      : ['p.domain_name AS name', 'o.name', 'UNION'];
  return [
    `SELECT p.domain_id AS id, ${team} FROM team_members m JOIN domain_permissions p ON p.team_id = m.team_id
      WHERE m.user_id = ?${among('p.domain_id', 'p.domain_name')}
      ${union} SELECT o.id, ${own} FROM domains o WHERE o.owner_id = ?${among('o.id', 'o.name')}`,
    [userId, ...only, userId, ...only],
  ];
}

/** The domains that a team has a permission on, as far as the reader may know of it: a member, or their owner. */
function ofTeam(teamId: number, { userId, all }: Reader): [string, SqlValue[]] {
  const known = `(EXISTS (SELECT 1 FROM team_members w WHERE w.team_id = t.team_id AND w.user_id = ?)
    OR EXISTS (SELECT 1 FROM domains x WHERE x.id = t.domain_id AND x.owner_id = ?))`;
  const where = `t.team_id = ?${all ? '' : ` AND ${known}`}`;
  const values = all ? [teamId] : [teamId, userId, userId];
  return [` AND mine.id IN (SELECT t.domain_id FROM domain_permissions t WHERE ${where})`, values];
}

/** The conditions of a query. */
function filterOf(query: DomainQuery, reader: Reader): Filter {
  // an administrator's table of readable domains is that of the domains itself
  const domains = reader.all ? 'mine' : 'd';
  const { name, account_id, owner_id, team_id, provider, status, keyword } = query;
  const byName: [string, SqlValue | undefined][] = [
    ['mine.name = ?', name && toAscii(name).replace(/\.$/, '')],
    // the A-label form of a whole label: parts of one have another
    ["mine.name LIKE ? ESCAPE '!'", keyword ? contains(toAscii(keyword) || keyword) : undefined],
  ];
  const byRow: [string, SqlValue | undefined][] = [
    [`${domains}.account_id = ?`, account_id],
    [`${domains}.owner_id = ?`, owner_id],
    [`${domains}.account_id IN (SELECT p.id FROM dns_accounts p WHERE p.provider = ?)`, provider],
    [`${domains}.status = ?`, status],
    // a private zone has no name of its own
    [`${domains}.apart = ?`, name === undefined ? undefined : ''],
  ];
  const isGiven = ([, value]: [string, SqlValue | undefined]) => value !== undefined;
  const given = [...byName, ...byRow].filter(isGiven);
  const [team, teamValues] = team_id === undefined ? ['', []] : ofTeam(team_id, reader);
  return {
    sql: given.map(([sql]) => ` AND ${sql}`).join('') + team,
    values: [...given.map(([, value]) => value as SqlValue), ...teamValues],
    ofRow: domains === 'd' && byRow.some(isGiven),
  };
}
