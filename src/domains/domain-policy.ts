import { Injectable } from '@nestjs/common';
import { type Principal, type Right, Role } from '../common/access.js';
import { errors } from '../common/errors.js';
import { rulesReach } from '../common/token-rules.js';
import { Db, marks, type SqlValue } from '../database/db.js';
import { type DomainAccess, READ, type Verdict, WRITE } from './access-rights.js';

/** Where the end of a registration is known from. */
export type ExpirySource = 'manual' | 'rdap' | 'whois' | 'provider';

/** A domain with its account, and what the one who asked may do there. */
export interface OpenDomain {
  id: number;
  name: string;
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
  created_at: string;
  synced_at: string | null;
  access: DomainAccess;
}

/** The columns of a domain, without what the asker may do. */
export type DomainRow = Omit<OpenDomain, 'access'>;

export const TOKEN_DENIED = 'Token does not have permission for this domain';

const MAX_NAMED = 500;
/** teams beyond which a list is not put together out of each team's first entries */
const MAX_SOURCES = 50;

/** The columns of a `DomainRow`, for queries over `domains d JOIN dns_accounts a`. */
export const DOMAIN_COLUMNS = `d.id, d.name, d.remote_id, d.account_id, a.name AS account_name, a.provider, d.owner_id, d.status,
  d.remark, d.records_count, d.revision, d.stale_revision, d.expires_at, d.expires_source, d.expires_checked_at, d.expiry_error,
  d.watch_certificates, d.certificate_port, d.created_at, d.synced_at`;

/** A table `mine (id, name)` of the domains that somebody may read. */
export interface Readable {
  mine: string;
  where: string;
  values: SqlValue[];
}

/** The domains that a token's own limits leave; null: all of its creator's. */
function ofToken({ token }: Principal): number[] | null {
  if (!token) return null;
  const { allowedDomains, rules } = token;
  if (allowedDomains) return rules ? allowedDomains.filter((id) => rulesReach(rules, id)) : allowedDomains;
  const allowing = rules?.filter((rule) => rule.effect === 'allow');
  if (!allowing || allowing.some((rule) => !rule.domains)) return null;
  return [...new Set(allowing.flatMap((rule) => rule.domains as number[]))];
}

/**
 * Decides every access to domains: the same grants for single checks and for lists. Administrators may do everything;
 * others what they own, and what their teams were given; a token at most what its domains and rules allow. Nothing is
 * cached: what was taken away is gone at the next request.
 */
@Injectable()
export class DomainPolicy {
  constructor(private readonly db: Db) {}

  /**
   * The domain, if this right on it is held. One query.
   * @throws AppError 403 (tokens: the specification's message), 404 for an administrator
   */
  async open(me: Principal, id: number, need: Right): Promise<OpenDomain> {
    const domain = await this.look(me, id);
    const verdict = this.judgeDomain(me, id, domain, need);
    if (verdict.allowed) return domain as OpenDomain;
    if (!domain && me.role >= Role.Admin && verdict.source === 'creator') throw errors.notFound('Domain');
    throw errors.forbidden(verdict.reason, { required: `domain:${id}:${need === 'records' ? 'write' : need}` });
  }

  /**
   * The domain with what the creator of a token, or the user, may do there; null when there is no such domain. One
   * query.
   */
  async look(me: Principal, id: number): Promise<OpenDomain | null> {
    const admin = me.role >= Role.Admin;
    const [grants, values] = admin ? ['', []] : grantsOf(me.userId, [id]);
    const rows = await this.db.rows<DomainRow & { level: number | null; host: string | null }>(
      `SELECT ${DOMAIN_COLUMNS}, ${admin ? `${WRITE} AS level, NULL AS host` : 'g.level, g.host'}
         FROM domains d JOIN dns_accounts a ON a.id = d.account_id ${admin ? '' : `LEFT JOIN (${grants}) g ON g.id = d.id`}
        WHERE d.id = ?`,
      [...values, id],
    );
    if (!rows.length) return null;
    const [{ level: _level, host: _host, ...row }] = rows as [(typeof rows)[0]];
    const level = Math.max(...rows.map((grant) => Number(grant.level ?? 0)));
    const hosts = level >= WRITE ? [] : rows.flatMap((grant) => grant.host ?? []);
    return { ...row, access: { level, hosts, rules: me.token?.rules ?? null } };
  }

  /** Whether this right on a domain that was looked at is held, and why (not). */
  judgeDomain(me: Principal, id: number, domain: OpenDomain | null, need: Right): Verdict {
    const no = (source: Verdict['source'], reason: string): Verdict => ({ allowed: false, reason, rule: null, source });
    const only = ofToken(me);
    if (only && !only.includes(id)) return no('token', TOKEN_DENIED);
    const { level, hosts } = domain?.access ?? { level: 0, hosts: [] };
    if (level < READ)
      return no(
        'creator',
        me.token ? TOKEN_DENIED : `No ${need === 'read' ? 'read' : 'write'} permission on this domain`,
      );
    if (need === 'own' && me.role < Role.Admin && domain?.owner_id !== me.userId)
      return no(
        'creator',
        'This is for the owner of the domain and for administrators; write permission is not enough',
      );
    if (need === 'read' || level >= WRITE || (need === 'records' && hosts.length)) {
      // rules speak of records; what they do not speak of they do not allow
      if ((need === 'write' || need === 'own') && me.token?.rules)
        return no('token', 'The rules of the token allow changes of records only');
      return { allowed: true, reason: 'The permission on the domain allows it', rule: null, source: 'creator' };
    }
    if (hosts.length) return no('creator', `Writing is limited to ${hosts.join(', ')}`);
    return no('creator', me.token ? TOKEN_DENIED : 'No write permission on this domain');
  }

  /**
   * The domains that this principal may read, as the table `mine (id, name)`. Made of the grants alone, so that an
   * ordinary user's list costs what the user has, not what the installation has.
   */
  readable(me: Principal): Readable {
    const only = ofToken(me);
    const where = only ? (only.length ? `mine.id IN (${marks(only.length)})` : '1 = 0') : '1 = 1';
    if (me.role >= Role.Admin) return { mine: 'domains mine', where, values: only ?? [] };
    const [grants, values] = grantsOf(me.userId, [], 'name');
    return { mine: `(${grants}) mine`, where, values: [...values, ...(only ?? [])] };
  }

  /**
   * The same for a page that is sorted by name: of each grant only as many as the page can need, in the order of an
   * index, so that a page of 10 000 permissions costs what a page costs. Null where it would not: `readable` does then.
   * @param most how many domains there are up to the end of the page
   */
  async readableByName(
    me: Principal,
    most: number,
    descending: boolean,
  ): Promise<{ page: Readable; counted: Readable } | null> {
    if (me.role >= Role.Admin || ofToken(me)) return null;
    const sources = await this.db.rows<{ team_id: number | null }>(
      `SELECT team_id FROM team_members WHERE user_id = ?
       UNION ALL SELECT NULL FROM users u WHERE u.id = ? AND EXISTS (SELECT 1 FROM domains o WHERE o.owner_id = u.id)`,
      [me.userId, me.userId],
    );
    if (sources.length > MAX_SOURCES) return null;
    const direction = descending ? 'DESC' : 'ASC';
    const end = `ORDER BY name ${direction}, id ${direction} LIMIT ${most}`;
    const ofTeam =
      'SELECT DISTINCT p.domain_id AS id, p.domain_name AS name FROM domain_permissions p WHERE p.team_id = ?';
    const own = 'SELECT o.id, o.name FROM domains o WHERE o.owner_id = ?';
    const values = sources.map(({ team_id }) => team_id ?? me.userId);
    const cut = sources.map(
      ({ team_id }, i) => `SELECT id, name FROM (${team_id === null ? own : ofTeam} ${end}) s${i}`,
    );
    const none = 'SELECT id, name FROM domains WHERE 1 = 0';
    // with one source nothing can come twice but what is marked so, and counting compares nothing
    const once =
      'SELECT p.domain_id AS id, p.domain_name AS name FROM domain_permissions p WHERE p.team_id = ? AND p.repeated IS NULL';
    const single = sources.length === 1 && sources[0]?.team_id !== null;
    return {
      page: { mine: `(${cut.join(' UNION ') || none}) mine`, where: '1 = 1', values },
      counted: single ? { mine: `(${once}) mine`, where: '1 = 1', values } : this.readable(me),
    };
  }

  /**
   * The level (1 read, 2 write) of these domains, which are readable, and the hosts under which more may be written.
   */
  async levels(me: Principal, ids: readonly number[]): Promise<Map<number, Pick<DomainAccess, 'level' | 'hosts'>>> {
    if (me.role >= Role.Admin || !ids.length) return new Map(ids.map((id) => [id, { level: WRITE, hosts: [] }]));
    // a list that long is asked for whole: naming its ids would only make the statement long
    const [grants, values] = grantsOf(me.userId, ids.length > MAX_NAMED ? [] : ids);
    const rows = await this.db.rows<{ id: number; level: number; host: string | null }>(grants, values);
    const found = new Map<number, { level: number; hosts: string[] }>();
    for (const { id, level, host } of rows) {
      const known = found.get(id) ?? { level: 0, hosts: [] };
      known.level = Math.max(known.level, Number(level));
      if (host !== null) known.hosts.push(host);
      found.set(id, known);
    }
    return found;
  }
}

/**
 * All grants of a user (or those on some domains): owned domains, and permissions of the user's teams. A write that is
 * limited to hosts is a read of the whole, with its `host`. With `level` a domain comes once a grant; with `name` once,
 * with its name.
 */
function grantsOf(userId: number, ids: readonly number[], column: 'level' | 'name' = 'level'): [string, SqlValue[]] {
  const among = (id: string) => (ids.length ? ` AND ${id} IN (${marks(ids.length)})` : '');
  const ofTeam = `CASE WHEN p.permission = 'write' AND p.host IS NULL THEN ${WRITE} ELSE ${READ} END AS level,
    CASE WHEN p.permission = 'write' THEN p.host END AS host`;
  const [team, own, union] =
    column === 'level'
      ? [ofTeam, `${WRITE} AS level, NULL AS host`, 'UNION ALL']
      : ['p.domain_name AS name', 'o.name', 'UNION'];
  return [
    `SELECT p.domain_id AS id, ${team} FROM team_members m JOIN domain_permissions p ON p.team_id = m.team_id
      WHERE m.user_id = ?${among('p.domain_id')}
      ${union} SELECT o.id, ${own} FROM domains o WHERE o.owner_id = ?${among('o.id')}`,
    [userId, ...ids, userId, ...ids],
  ];
}
