import { Injectable } from '@nestjs/common';
import { type Principal, type Right, Role } from '../access/access.js';
import type { DomainReference } from '../dns/domain-reference.js';
import { type AppError, errors } from '../platform/common/errors.js';
import { type Said, said } from '../platform/common/words/reasons.js';
import { rulesReach } from '../tokens/rules/token-rules.js';
import { type DomainAccess, denied, READ, refusal, type Verdict, WRITE } from './access-rights.js';
import {
  type DomainRow,
  type GrantedRow,
  ReadableDomainsRepository,
  type Reader,
} from './readable-domains.repository.js';

export type { DomainRow };

/** A domain with its account, and what the one who asked may do there. */
export interface OpenDomain extends DomainRow {
  access: DomainAccess;
}

/** The entity tag of the records of a domain as a whole. @param revision how often they have changed */
export const revisionTag = (revision: number): string => `"${revision}"`;

/** The domains that a token's own limits leave; null: all of its creator's. */
function ofToken({ token }: Principal): number[] | null {
  if (!token) return null;
  const { allowedDomains, rules } = token;
  if (allowedDomains) return rules ? allowedDomains.filter((id) => rulesReach(rules, id)) : allowedDomains;
  const allowing = rules?.filter((rule) => rule.effect === 'allow');
  if (!allowing || allowing.some((rule) => !rule.domains)) return null;
  return [...new Set(allowing.flatMap((rule) => rule.domains as number[]))];
}

const denialOf = ({ token }: Principal, need: Right): Said => {
  if (token) return said('token_domain_denied');
  return said(need === 'read' ? 'no_read_permission' : 'no_write_permission');
};

/** The id that a right is judged for: of a name that is not known, none. */
export const idOf = (domain: OpenDomain | null, which: DomainReference): number =>
  domain?.id ?? (typeof which === 'number' ? which : 0);

/** A domain with what its rows allow. @param rows one for each grant, at least one */
function opened(me: Principal, rows: GrantedRow[]): OpenDomain {
  const [{ level: _level, host: _host, ...row }] = rows as [GrantedRow];
  const level = Math.max(...rows.map((grant) => Number(grant.level ?? 0)));
  const hosts = level >= WRITE ? [] : rows.flatMap((grant) => grant.host ?? []);
  return { ...row, access: { level, hosts, rules: me.token?.rules ?? null } };
}

/** how many ids a message names; its data has all */
const MOST_NAMED = 20;

function severalOf(name: string, domains: readonly OpenDomain[]): AppError {
  const ids = domains.map(({ id }) => id);
  const named = ids.slice(0, MOST_NAMED).join(', ') + (ids.length > MOST_NAMED ? ', …' : '');
  return errors.conflict('domain_name_ambiguous', { name, ids: named }, { ids });
}

/**
 * Decides every access to domains: the same grants for single checks and for lists. Administrators may do everything;
 * others what they own, and what their teams were given; a token at most what its domains and rules allow. Nothing is
 * cached: what was revoked is gone at the next request.
 */
@Injectable()
export class DomainPolicy {
  constructor(private readonly domains: ReadableDomainsRepository) {}

  /**
   * The domain, if this right on it is held. One query. A name of none, or of none that may be read, is answered as an
   * id without one.
   * @throws AppError 403 (tokens: the specification's message), 404 for an administrator, 409 as `look`
   */
  async open(me: Principal, which: DomainReference, need: Right): Promise<OpenDomain> {
    const domain = await this.look(me, which);
    const verdict = this.judgeDomain(me, idOf(domain, which), domain, need);
    if (verdict.allowed) return domain as OpenDomain;
    if (!domain && me.role >= Role.Admin && verdict.source === 'creator') throw errors.notFound('domain');
    throw refusal(verdict, `domain:${domain?.id ?? which}:${need === 'records' ? 'write' : need}`);
  }

  /**
   * The domain with what the creator of a token, or the user, may do there; null when there is no such domain, or none
   * of this name that may be read. One query.
   * @throws AppError 409001 with the ids where several domains of a name may be read
   */
  async look(me: Principal, which: DomainReference): Promise<OpenDomain | null> {
    const rows = await this.domains.withGrants(which, me.role >= Role.Admin ? null : me.userId);
    if (typeof which === 'number') return rows.length ? opened(me, rows) : null;
    return this.onlyOf(me, which, rows);
  }

  /**
   * The domain that a public name belongs to, of those that may be read: that of the longest of these names. One query.
   * @param names the name and those above it, the longest first @throws AppError 409001 as `look`
   */
  async lookAbove(me: Principal, names: readonly string[]): Promise<OpenDomain | null> {
    const rows = await this.publicRows(me, names);
    for (const name of names) {
      const of = rows.filter((row) => row.name === name);
      const found = of.length ? this.onlyOf(me, name, of) : null;
      if (found) return found;
    }
    return null;
  }

  /** The domains of these public names that may be read. One query. */
  async readable(me: Principal, names: readonly string[]): Promise<OpenDomain[]> {
    return this.readableOf(me, await this.publicRows(me, names));
  }

  /** The domains of these public names, whoever may read them: that they exist, public DNS tells. One query. */
  async known(names: readonly string[]): Promise<Pick<DomainRow, 'id' | 'name'>[]> {
    const rows = await this.domains.withGrants(names, null);
    return rows.filter(({ apart }) => !apart);
  }

  private async publicRows(me: Principal, names: readonly string[]): Promise<GrantedRow[]> {
    const rows = await this.domains.withGrants(names, me.role >= Role.Admin ? null : me.userId);
    return rows.filter(({ apart }) => !apart);
  }

  /** Those that may be read, of the domains of these rows. */
  private readableOf(me: Principal, rows: readonly GrantedRow[]): OpenDomain[] {
    const found = [...new Set(rows.map(({ id }) => id))].map((id) =>
      opened(
        me,
        rows.filter((row) => row.id === id),
      ),
    );
    return found.filter((domain) => this.judgeDomain(me, domain.id, domain, 'read').allowed);
  }

  /** The one domain of a name that may be read. @throws AppError 409001 where these are several */
  private onlyOf(me: Principal, name: string, rows: readonly GrantedRow[]): OpenDomain | null {
    const readable = this.readableOf(me, rows);
    if (readable.length > 1) throw severalOf(name, readable);
    return readable[0] ?? null;
  }

  /** Whether this right is held on a domain that `look` found, and why (not). */
  judgeDomain(me: Principal, id: number, domain: OpenDomain | null, need: Right): Verdict {
    const only = ofToken(me);
    if (only && !only.includes(id)) return denied('token', said('token_domain_denied'));
    const { level, hosts } = domain?.access ?? { level: 0, hosts: [] };
    if (level < READ) return denied('creator', denialOf(me, need));
    if (need === 'own' && me.role < Role.Admin && domain?.owner_id !== me.userId)
      return denied('creator', said('owner_only'));
    if (need === 'read' || level >= WRITE || (need === 'records' && hosts.length)) {
      // rules speak of records; what they do not speak of they do not allow
      if ((need === 'write' || need === 'own') && me.token?.rules) return denied('token', said('token_records_only'));
      return { allowed: true, reason: 'The permission on the domain allows it', rule: null, source: 'creator' };
    }
    if (hosts.length) return denied('creator', said('writing_limited', { hosts: hosts.join(', ') }));
    return denied('creator', denialOf(me, need));
  }

  /** Whose domains the lists of this principal are narrowed to. */
  reader(me: Principal): Reader {
    return { userId: me.userId, all: me.role >= Role.Admin, only: ofToken(me) };
  }

  /**
   * The level (1 read, 2 write) of these domains, which are readable, and the hosts under which more may be written.
   */
  async levels(me: Principal, ids: readonly number[]): Promise<Map<number, Pick<DomainAccess, 'level' | 'hosts'>>> {
    if (me.role >= Role.Admin || !ids.length) return new Map(ids.map((id) => [id, { level: WRITE, hosts: [] }]));
    const rows = await this.domains.grants(me.userId, ids);
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
