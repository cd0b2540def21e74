import { isDeepStrictEqual } from 'node:util';
import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { type Caller, Role, signedIn } from '../../access/access.js';
import { makerOf } from '../../access/maker.js';
import { AuditService } from '../../audit/audit.service.js';
import { Places } from '../../changes/edits/edit.js';
import { fullName } from '../../dns/names.js';
import { type DomainAccess, judgeRecord } from '../../domains/access-rights.js';
import type { OpenDomain } from '../../domains/domain-policy.js';
import { DomainsService } from '../../domains/domains.service.js';
import { errors, fieldError } from '../../platform/common/errors.js';
import type { PageQuery } from '../../platform/common/paging.dto.js';
import type { Config } from '../../platform/config/config.js';
import { CONFIG } from '../../platform/config/config.module.js';
import { Db } from '../../platform/database/db.js';
import { assertConditions, type Conditions, entityTag } from '../../platform/http/conditions.js';
import { ChangeReader } from '../../records/history/change-reader.service.js';
import { RrsetsService } from '../../records/rrsets/rrsets.service.js';
import {
  limitedUntil,
  type RuleConfig,
  SINGLE,
  sameValues,
  sideOf,
  targetOf,
  UNKNOWN,
  working,
} from './checks/decide.js';
import type {
  FailoverInput,
  FailoverRuleInput,
  FailoverView,
  RuleState,
  RuleView,
  SwitchInput,
  SwitchResult,
} from './failover.dto.js';
import { FailoverRulesRepository } from './failover-rules.repository.js';
import { FailoversRepository } from './failovers.repository.js';
import { Stale } from './judge.js';
import { checksOf, type Rule } from './rule.js';
import { configsOf, readsInside, unreachable } from './rule-config.js';
import { Switcher } from './switcher.service.js';

const placeOf = ({ host, type, line }: RuleConfig) => `${host} ${type} ${line}`;

/** Whether two rules are of one record set, and switch between the same values. */
const hasSameAnswers = (a: RuleConfig, b: RuleConfig): boolean =>
  placeOf(a) === placeOf(b) && sameValues(a.primary, b.primary) && sameValues(a.backup, b.backup);

/** @throws AppError 409001 where a rule that is released was put on hold after it was read */
function assertRead(rule: Rule, version: number | null | undefined, position: number): void {
  if ((version ?? rule.version) === rule.version) return;
  throw errors.conflict('rule_held', { position, why: rule.hold_reason ?? 'somebody has set it' });
}

/** The rules of a domain, for the API. */
@Injectable()
export class FailoverService {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly db: Db,
    private readonly failovers: FailoversRepository,
    private readonly rules: FailoverRulesRepository,
    private readonly domains: DomainsService,
    private readonly places: Places,
    private readonly rrsets: RrsetsService,
    private readonly switcher: Switcher,
    private readonly changes: ChangeReader,
    private readonly audit: AuditService,
  ) {}

  /** A token with rules sees the rules of failover whose records it may read. */
  async get(domain: OpenDomain): Promise<FailoverView> {
    const [enabled, rules] = await Promise.all([this.failovers.enabled(domain.id), this.rules.ofDomain(domain.id)]);
    return viewFor(domain, enabled, rules);
  }

  /**
   * Makes the configuration what the body says. A rule whose values stay the same goes on from its state; any other one
   * begins with what the cache holds.
   * @throws AppError 400001 naming all that is wrong; 412001
   */
  async put(
    me: Caller,
    domain: OpenDomain,
    { enabled, rules: inputs }: FailoverInput,
    conditions: Conditions,
  ): Promise<FailoverView> {
    const place = await this.places.of(domain);
    const { outboundDeny, outboundAllow } = this.config;
    const configs = await configsOf(place, inputs, (path, address) =>
      unreachable(path, address, outboundDeny, outboundAllow),
    );
    await this.switcher.alone(domain.id, async () => {
      if (conditions.ifMatch !== undefined) assertSeen(conditions, await this.get(domain));
      const known = new Map((await this.rules.ofDomain(domain.id)).map((rule) => [rule.id, rule]));
      const strange = inputs.findIndex(({ id }) => (id ?? null) !== null && !known.has(id as number));
      if (strange >= 0)
        throw errors.field(`rules.${strange}.id`, 'is no rule of this domain; leave it out for a new one');
      const twice = inputs.findIndex(({ id }, i) => (id ?? null) !== null && inputs.findIndex((r) => r.id === id) < i);
      if (twice >= 0) throw errors.field(`rules.${twice}.id`, 'is named twice', 'duplicate');
      const served = await this.rrsets.values(domain, configs);
      await this.db.transaction(async (manager) => {
        const before = await this.failovers.enabled(domain.id, manager);
        // read again, since checks go on
        const current = new Map((await this.rules.ofDomain(domain.id, manager)).map((rule) => [rule.id, rule]));
        assertSeen(conditions, viewFor(domain, before, [...current.values()]));
        const named = new Set(inputs.map(({ id }) => id));
        const gone = [...current.keys()].filter((id) => !named.has(id));
        await this.rules.remove(gone, manager);
        for (const [position, config] of configs.entries()) {
          const input = inputs[position] as FailoverRuleInput;
          const rule = current.get(input.id ?? 0);
          await this.write(manager, me, domain, { position, config, input, now: served[position] ?? [] }, rule);
        }
        await this.enable(domain.id, before, enabled, manager);
        await this.audit.write(manager, me, {
          action: 'failover.update',
          domain,
          target: { type: 'domain', id: domain.id, name: domain.name },
          before: { enabled: before ?? false, rules: [...current.values()].map(given) },
          after: { enabled, rules: configs.map((config, i) => ({ ...config, hold: inputs[i]?.hold ?? false })) },
        });
      });
    });
    return this.get(domain);
  }

  /** Changes the version of all rules, too, so that the change is noticed, and no switch goes on that was decided. */
  private async enable(
    domainId: number,
    before: boolean | null,
    enabled: boolean,
    manager: EntityManager,
  ): Promise<void> {
    if (before === enabled) return;
    if (before === null) {
      // all its rules are new
      await this.failovers.add(domainId, enabled, manager);
      return;
    }
    await this.failovers.setEnabled(domainId, enabled, manager);
    await this.rules.raiseVersions(domainId, manager);
  }

  private async write(
    manager: EntityManager,
    me: Caller,
    domain: OpenDomain,
    {
      position,
      config,
      input,
      now: held,
    }: { position: number; config: RuleConfig; input: FailoverRuleInput; now: string[] },
    rule: Rule | undefined,
  ): Promise<void> {
    const hold = input.hold ?? false;
    const side = sideOf(held, config);
    const anew = { active: side ?? 'primary', served: side && held, intended: null } as const;
    const name = fullName(config.host, domain.name);
    const fields = { position, name, config, hold };
    if (!rule) {
      this.assertMayRead(me, position, config);
      const none = { hold_reason: null, failure: null, checks: {}, switched_at: null, switches: 0, recent: [] };
      await this.rules.add({ ...fields, ...anew, ...none, ...makerOf(me), domain_id: domain.id, version: 1 }, manager);
      return;
    }
    await this.change(manager, me, rule, fields, anew, input.version);
  }

  /** @param anew what a rule begins with whose values are others, or that is released */
  private async change(
    manager: EntityManager,
    me: Caller,
    rule: Rule,
    fields: Pick<Rule, 'position' | 'name' | 'config' | 'hold'>,
    anew: Partial<Rule>,
    version: number | null | undefined,
  ): Promise<void> {
    const { position, name, config, hold } = fields;
    const old = rule.config;
    const released = rule.hold && !hold;
    if (released) assertRead(rule, version, position);
    // a rule that is sent back unchanged stays its maker's
    const taken = released || !isDeepStrictEqual(config, old);
    if (taken) this.assertMayRead(me, position, config);
    const asked = JSON.stringify(old.check) === JSON.stringify(config.check) && rule.name === name;
    const restart = released || !hasSameAnswers(old, config) ? anew : {};
    const maker = taken ? makerOf(me) : {};
    const after: Partial<Rule> = {
      ...fields,
      ...restart,
      ...maker,
      hold_reason: hold && rule.hold ? rule.hold_reason : null,
      checks: asked ? checksOf(config, rule.checks) : {},
    };
    // a rule that is sent back unchanged keeps its version
    if (isDeepStrictEqual({ ...rule, ...after }, rule)) return;
    const changed = await this.rules.change(rule, after, manager);
    if (!changed) throw errors.conflict('rules_switching');
  }

  /** @throws AppError 403001 where a check would read an inner page for a user who is no administrator */
  private assertMayRead(me: Caller, position: number, config: RuleConfig): void {
    if (signedIn(me).role >= Role.Admin || !readsInside(config, this.config.outboundDeny)) return;
    const path = `rules.${position}.check.expect_body`;
    const words = 'is for administrators where an address is an inner one, which OUTBOUND_ALLOW alone lets be checked';
    throw errors.forbidden(
      'inner_page',
      { path },
      {
        required: `role:${Role.Admin}`,
        errors: [fieldError(path, words, 'conflict')],
      },
    );
  }

  /** @throws AppError 409001, 412001 */
  remove(me: Caller, domain: OpenDomain, conditions: Conditions): Promise<void> {
    return this.switcher.alone(domain.id, () =>
      this.db.transaction(async (manager) => {
        const before = await this.rules.ofDomain(domain.id, manager);
        assertSeen(conditions, viewFor(domain, await this.failovers.enabled(domain.id, manager), before));
        await this.rules.removeOfDomain(domain.id, manager);
        await this.failovers.remove(domain.id, manager);
        await this.audit.write(manager, me, {
          action: 'failover.delete',
          domain,
          target: { type: 'domain', id: domain.id, name: domain.name },
          before: { rules: before.map(given) },
        });
      }),
    );
  }

  /**
   * Switches a rule by hand, or rehearses that: to the values of the side that work, or to all of them where none does.
   * @throws AppError 404001, 409001 where the set is not as the rule left it, or it is being switched; ProviderError
   */
  async switch(
    me: Caller,
    opened: OpenDomain,
    id: number,
    { to, hold }: SwitchInput,
    dryRun: boolean,
  ): Promise<SwitchResult> {
    const rule = await this.rules.one(id);
    if (rule?.domain_id !== opened.id) throw errors.notFound('failover_rule');
    const domain = { ...(await this.domains.reload(opened.id)), access: opened.access };
    const { config } = rule;
    const state = { ...config, ...rule };
    const some = working(state, to);
    const values = some.length ? some : SINGLE.has(config.type) ? config[to].slice(0, 1) : config[to];
    if (!values.length) throw errors.field('to', 'the rule has no such values', 'conflict');
    const target = { active: to, values };
    const next = targetOf({ ...state, ...target, served: values });
    const differs = next !== null && !sameValues(next.values, values);
    const held = hold ?? differs;
    const result = { rule_id: id, dry_run: dryRun, active: to, after: values, hold: held };
    if (dryRun) {
      this.audit.notNeeded(me);
      const found = await this.switcher.rehearse(me, domain, rule, target);
      return { ...result, ...found, change_set_id: null };
    }
    const why = `switched to ${to} by hand`;
    const isReleased = rule.hold && !held;
    if (isReleased) this.assertMayRead(me, rule.position, config);
    const release = isReleased ? { maker: makerOf(me) } : {};
    try {
      const done = await this.switcher.switch(me, domain, rule, {
        target,
        why,
        hold: { on: held, reason: held ? why : null, ...release },
      });
      const found = { before: [...done.before], change_set_id: done.changeSet, refused: null };
      return { ...result, ...found, hold: done.rule.hold };
    } catch (error) {
      if (error instanceof Stale) throw errors.conflict('rule_switching');
      throw error;
    }
  }

  /** The lists of changes that rules made, newest first. */
  history(domain: OpenDomain, query: Pick<PageQuery, 'page' | 'limit'>) {
    return this.changes.list(domain, { ...query, door: 'failover' });
  }
}

/** The entity tag of the rules: of what people set and switches put on hold, not of what checks find. */
export const failoverTag = (view: FailoverView): string => {
  const rules = view.rules.map(({ version: _, state: { hold_reason }, ...rule }) => ({ ...rule, hold_reason }));
  return entityTag({ enabled: view.enabled, rules }, view);
};

/** @throws AppError 412001 where the rules are not what the caller has seen */
const assertSeen = (conditions: Conditions, failover: FailoverView): void =>
  assertConditions(conditions, failoverTag(failover), { failover });

/** Whether somebody who may read a domain may see a rule of it: each of its values may be read. */
export const maySeeRule = (access: DomainAccess, domainId: number, { config }: Pick<Rule, 'config'>): boolean => {
  const { host, type, primary, backup } = config;
  return [...primary, ...backup].every(
    (value) => judgeRecord(access, domainId, 'read', { host, type, value, ttl: 1 }).allowed,
  );
};

/** The rules as a caller may see them. @param enabled null: there is no configuration */
function viewFor(domain: OpenDomain, enabled: boolean | null, rules: readonly Rule[]): FailoverView {
  const seen = rules.filter((rule) => maySeeRule(domain.access, domain.id, rule));
  return { enabled: enabled ?? false, rules: seen.map((rule) => viewOf(rule, domain)) };
}

const given = ({ id, config, hold }: Rule) => ({ id, ...config, hold });

/** the reason that a token with rules sees: the full one may name values that it may not read */
const HELD = 'The record set was changed by somebody else, or somebody has set the rule on hold';

/** and the same of a switch that failed */
const FAILED = 'The last switch failed; it is tried again';

function viewOf(rule: Rule, { access }: Pick<OpenDomain, 'access'>): RuleView {
  const { id, version, config, hold, hold_reason, failure, active, checks, switched_at, switches, recent, maker_id } =
    rule;
  const { host, type, line, primary, backup, check, ...rest } = config;
  const values = [...primary, ...backup].map((value) => {
    const { up, last_check_at, last_error, latency_ms } = checks[value] ?? UNKNOWN;
    return { value, up, last_check_at, last_error, latency_ms };
  });
  const limited_until = limitedUntil(recent, config.max_switches_per_hour);
  const reason = hold_reason && access.rules ? HELD : hold_reason;
  const state: RuleState = {
    active,
    values,
    switched_at,
    switches,
    hold_reason: reason,
    failure: failure && access.rules ? FAILED : failure,
    limited_until,
    made_by: maker_id,
  };
  return { id, version, host, type, line, primary, backup, check, ...rest, hold, state };
}
