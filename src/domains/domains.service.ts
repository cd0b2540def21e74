import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { hasScope, type Principal, Role } from '../access/access.js';
import { ProviderConnections } from '../accounts/provider-connections.js';
import { toUnicode } from '../dns/names.js';
import { errors } from '../platform/common/errors.js';
import { same } from '../platform/common/read-only.js';
import { capabilitiesView } from '../providers/capabilities-view.js';
import { Approvers } from '../teams/approvers.service.js';
import { type DomainAccess, READ, refusal, WRITE } from './access-rights.js';
import {
  bindsZone,
  type ChangeRules,
  changeRulesOf,
  loosenedRules,
  RULE_KEYS,
  storedRules,
} from './change-rules/change-rules.js';
import type { DomainDetail, DomainQuery, DomainView } from './domain.dto.js';
import { DomainPolicy, type DomainRow, type OpenDomain } from './domain-policy.js';
import { DomainsRepository } from './domains.repository.js';
import { ReadableDomainsRepository } from './readable-domains.repository.js';
import type { RuledDomain } from './shared-zones.repository.js';
import { SharedZones } from './shared-zones.service.js';
import { shownName } from './zone-identity.js';

/** domains that are read at once */
const PAGE = 500;

/** What a caller may do in a domain, for its views. */
type Held = Pick<DomainAccess, 'level' | 'hosts'>;

const domainView = (row: DomainRow, { level, hosts }: Held): DomainView => ({
  id: row.id,
  name: shownName(row),
  unicode_name: shownName({ ...row, name: toUnicode(row.name) }),
  account_id: row.account_id,
  account_name: row.account_name,
  provider: row.provider,
  owner_id: row.owner_id,
  remote_id: row.remote_id,
  private: row.apart !== '',
  status: row.status,
  records_count: row.records_count,
  permission: level >= WRITE || hosts.length ? 'write' : 'read',
  write_hosts: level < WRITE && hosts.length ? [...hosts] : null,
  expires_at: row.expires_at,
  created_at: row.created_at,
  synced_at: row.synced_at,
  remark: row.remark,
});

/** Lists and shows domains. */
@Injectable()
export class DomainsService {
  constructor(
    private readonly domains: DomainsRepository,
    private readonly readable: ReadableDomainsRepository,
    private readonly policy: DomainPolicy,
    private readonly connections: ProviderConnections,
    private readonly shared: SharedZones,
    private readonly approvers: Approvers,
  ) {}

  /** The domain with the strictest rules of all domains of its zone. */
  async withZoneRules<T extends DomainRow>(domain: T): Promise<T> {
    return { ...domain, change_rules: storedRules((await this.shared.of(domain.id)).rules) };
  }

  /**
   * Asserts that the caller may evade the rules of these domains, by deleting one of them or by adding the same zone or
   * one below it. This needs the right to lift the rules.
   * @throws AppError 403001
   */
  async assertMayUnbind(me: Principal, domains: readonly RuledDomain[]): Promise<void> {
    for (const domain of domains) {
      const rules = changeRulesOf(domain);
      if (!bindsZone(rules)) continue;
      if (me.token) throw errors.forbidden('rules_not_for_tokens', {}, { required: 'login' });
      const owns = me.role >= Role.Admin || domain.owner_id === me.userId;
      const { approval } = rules;
      const lifts =
        me.role >= Role.Super || (owns && (approval.for === 'none' || (await this.approvers.isOne(me, approval))));
      if (!lifts)
        throw errors.forbidden('zone_bound', { name: domain.name }, { required: `domain:${domain.id}:approve` });
    }
  }

  /**
   * Asserts that the caller may change the rules of a domain: its owner or an administrator, in a session. While an
   * approval is required, only an approver may loosen a rule; if no approver is left, a super administrator may.
   * @throws AppError 403001 for rules changed by a caller who may not; 400001 for approvers that do not exist
   */
  async assertMayChangeRules(
    me: Principal,
    domain: OpenDomain,
    before: ChangeRules,
    after: ChangeRules,
  ): Promise<void> {
    if (RULE_KEYS.every((key) => same(before[key], after[key]))) return;
    if (me.token) throw errors.forbidden('rules_not_for_tokens', {}, { required: 'login' });
    const verdict = this.policy.judgeDomain(me, domain.id, domain, 'own');
    if (!verdict.allowed) throw refusal(verdict, `domain:${domain.id}:own`);
    if (!same(before.approval, after.approval)) await this.approvers.assertThere(me, after.approval);
    const loosened = before.approval.for === 'none' ? [] : loosenedRules(before, after);
    if (!loosened.length || me.role >= Role.Super || (await this.approvers.isOne(me, before.approval))) return;
    const required = `domain:${domain.id}:approve`;
    throw errors.forbidden('loosening_needs_approver', { rules: loosened.join(', ') }, { required });
  }

  /** A page of the domains that the caller may read, and how many there are. @throws AppError 400001 */
  async list(me: Principal, query: DomainQuery): Promise<{ total: number; list: DomainView[] }> {
    const { total, list } = await this.readable.list(this.policy.reader(me), query);
    const levels = await this.policy.levels(
      me,
      list.map((row) => row.id),
    );
    return { total, list: list.map((row) => domainView(row, writable(me, row.id, levels.get(row.id) ?? NOTHING))) };
  }

  /** All domains that the caller may read, in the order of their names, in pages; one that stays is never left out. */
  async *all(me: Principal): AsyncGenerator<DomainRow[]> {
    const reader = this.policy.reader(me);
    for (let last: DomainRow | undefined; ; ) {
      const page = await this.readable.behind(reader, PAGE, last);
      yield page;
      last = page.at(-1);
      if (page.length < PAGE) return;
    }
  }

  /** How many domains the caller may read. */
  count(me: Principal): Promise<number> {
    return this.readable.count(this.policy.reader(me));
  }

  /** Which of these ids are domains that the caller may read. */
  readableIds(me: Principal, ids: readonly number[], manager?: EntityManager): Promise<Set<number>> {
    return this.readable.among(this.policy.reader(me), ids, manager);
  }

  /** A domain with what the caller may do there. */
  detail(me: Principal, domain: OpenDomain): DomainDetail {
    const { access } = domain;
    const deletes = !me.token || hasScope(me.token.allowedServices, '*');
    return {
      ...domainView(domain, writable(me, domain.id, access)),
      expires_source: domain.expires_source,
      expires_checked_at: domain.expires_checked_at,
      expiry_error: domain.expiry_error,
      watch_certificates: Boolean(domain.watch_certificates),
      certificate_port: domain.certificate_port,
      ...changeRulesOf(domain),
      can_delete: deletes && this.policy.judgeDomain(me, domain.id, domain, 'own').allowed,
      capabilities: capabilitiesView(this.connections.definition(domain.provider).capabilities),
    };
  }

  /** Which of these ids are domains at all. */
  existing(ids: readonly number[]): Promise<Set<number>> {
    return this.domains.existing(ids);
  }

  /** The domains of an account with one of these names, public ones. */
  named(accountId: number, names: readonly string[]): Promise<DomainRow[]> {
    return this.domains.named(accountId, names);
  }

  /** A domain without asking who wants it: for jobs, and after the guard has asked. @throws AppError 404 */
  async reload(id: number): Promise<DomainRow> {
    const row = await this.domains.find(id);
    if (!row) throw errors.notFound('domain');
    return row;
  }
}

const NOTHING: Held = { level: 0, hosts: [] };

/**
 * The rights in a domain as views show them: of a token no more than its scopes and rules leave. `hosts` then are those
 * of the rules that allow writing something; whether a single change is allowed, and why not, is for `explain`.
 */
function writable({ token }: Principal, id: number, held: Held): Held {
  const none = { level: Math.min(held.level, READ), hosts: [] };
  if (!token) return held;
  if (!hasScope(token.allowedServices, 'records:write')) return none;
  const allows = token.rules?.filter(
    ({ effect, domains, actions }) =>
      effect === 'allow' && (!domains || domains.includes(id)) && (!actions || actions.some((one) => one !== 'read')),
  );
  if (!allows) return held;
  if (!allows.length) return none;
  // limited to hosts already: which of them the rules leave cannot be expressed in globs
  if (held.level < WRITE || allows.some(({ hosts }) => !hosts)) return held;
  return { level: READ, hosts: [...new Set(allows.flatMap(({ hosts }) => hosts ?? []))] };
}
