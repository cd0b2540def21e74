import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { type Maker } from '../../access/maker.js';
import { type Actor, AuditService } from '../../audit/audit.service.js';
import { WaitingPlans } from '../../changes/plans/waiting-plans.service.js';
import { systemAccess } from '../../domains/access-rights.js';
import type { OpenDomain } from '../../domains/domain-policy.js';
import { DomainsService } from '../../domains/domains.service.js';
import { Notices } from '../../notifications/notices.service.js';
import { now } from '../../platform/common/clock.js';
import { Db } from '../../platform/database/db.js';
import { Leases } from '../../platform/database/leases.js';
import { Events } from '../../platform/events/events.js';
import { RrsetsService } from '../../records/rrsets/rrsets.service.js';
import { lastHour, sameValues, type Target } from './checks/decide.js';
import { FailoverRulesRepository } from './failover-rules.repository.js';
import { Foreign, mayHaveApplied, Stale, valuesToWrite } from './judge.js';
import { nameOf, type Rule, servedBy, waitingAs } from './rule.js';
import { RuleHolds } from './rule-holds.service.js';
import { RuleRights } from './rule-rights.service.js';
import { SwitchReview } from './switch-review.service.js';
import { ZoneReadings } from './zone-readings.service.js';

/** ms that a switch and a configuration of a domain wait for each other */
export const WAIT_MS = 10_000;

/** The lease of a configuration of a domain, of which the leases of its rules are parts. */
export const lockOf = (domainId: number): string => `failover|${domainId}`;

/** A rehearsal ends before anything is written. */
class Rehearsed extends Error {}

/** What a switch does. */
interface Wish {
  target: Target;
  /** in words, for the history */
  why: string;
  /** from then on; null: as it is. With a maker the rule is released, and is theirs from then on */
  hold: { on: boolean; reason: string | null; maker?: Maker } | null;
  /** asked just before the writing: false, and nothing is written */
  wanted?: () => boolean;
}

interface Switched {
  /** as it is now */
  rule: Rule;
  before: readonly string[];
  changeSet: number | null;
}

/** Carries out switches: what the provider holds is read, judged and written as one change set. */
@Injectable()
export class Switcher {
  constructor(
    private readonly db: Db,
    private readonly leases: Leases,
    private readonly rules: FailoverRulesRepository,
    private readonly domains: DomainsService,
    private readonly readings: ZoneReadings,
    private readonly rrsets: RrsetsService,
    private readonly rights: RuleRights,
    private readonly holds: RuleHolds,
    private readonly review: SwitchReview,
    private readonly waiting: WaitingPlans,
    private readonly audit: AuditService,
    private readonly notices: Notices,
    private readonly events: Events,
  ) {}

  /** Runs `work` while no rule of the domain is switched or configured elsewhere. @throws AppError 409001 */
  alone<T>(domainId: number, work: () => Promise<T>): Promise<T> {
    return this.leases.hold([lockOf(domainId)], WAIT_MS, work, { whole: true });
  }

  /**
   * Switches a rule automatically. Where the set is not as the rule left it, the rule goes on hold.
   * @param wanted asked just before the writing, since a provider may be slow: whether the target is still to be served
   * @returns the rule as it is now
   * @throws Stale, also when it is not; AppError, ProviderError when it is unknown what is served
   */
  async byItself(rule: Rule, target: Target, why: string, wanted: () => boolean): Promise<Rule> {
    const domain = await this.opened(rule.domain_id);
    return (await this.switch('system', domain, rule, { target, why, hold: null, wanted })).rule;
  }

  /** A domain for automatic switches: the rights of the makers are judged under the locks of their rules. */
  async opened(domainId: number): Promise<OpenDomain> {
    return { ...(await this.domains.reload(domainId)), access: systemAccess };
  }

  /** @throws Stale; AppError 409001 where the set is not as the rule left it; ProviderError */
  async switch(actor: Actor, domain: OpenDomain, rule: Rule, wish: Wish): Promise<Switched> {
    await this.readings.refresh(domain);
    const within = lockOf(domain.id);
    return this.leases.hold([`${within}|${rule.id}`], WAIT_MS, () => this.locked(actor, domain, rule, wish), {
      within,
    });
  }

  private async locked(actor: Actor, domain: OpenDomain, rule: Rule, wish: Wish): Promise<Switched> {
    if (actor === 'system') {
      const held = await this.heldSinceEnded(rule);
      if (held) return { rule: held, before: [], changeSet: null };
    }
    const begun = await this.begin(rule, wish.target);
    if (!begun) throw new Stale();
    let before: string[] = [];
    let changeSet: number | null;
    try {
      const comment = `rule ${rule.id}: ${wish.why}`.slice(0, 255);
      const options = { door: 'failover', comment, atomic: true, ...waitingAs(rule, domain) } as const;
      changeSet = await this.rrsets.replace(actor, domain, rule.config, options, (values) => {
        before = values;
        if (wish.wanted?.() === false) throw new Stale();
        // the rule before `begin`: what this switch intends to write excuses nothing that is found
        return valuesToWrite(rule, wish.target, values);
      });
    } catch (error) {
      if (actor === 'system' && error instanceof Foreign)
        return { rule: await this.holds.hold(begun, error.message), before, changeSet: null };
      // the caller gets the failure of the switch, whatever becomes of this write
      if (!mayHaveApplied(error)) await this.rules.change(begun, { intended: rule.intended }).catch(() => null);
      throw error;
    }
    const after = await this.db.transaction((manager) =>
      this.made(manager, actor, domain, begun, wish, { before, changeSet }),
    );
    if (!after) throw new Stale();
    const isNews = after.switches > rule.switches;
    const [reviewed = after] = isNews ? await this.review.review(actor, domain, [{ rule: after, before }]) : [];
    return { rule: reviewed, before, changeSet };
  }

  /** Puts a rule on hold whose maker may not write any more; null: its maker may. */
  private async heldSinceEnded(rule: Rule): Promise<Rule | null> {
    const reason = (await this.rights.of([rule])).get(rule.id)?.ended;
    if (!reason) return null;
    const [held = new Stale()] = await this.holds.holdEndedOf(rule.domain_id, [{ rule, reason }]);
    if (held instanceof Error) throw held;
    return held;
  }

  /** Stores what a switch is about to write, so that values of a switch that is cut off are recognised. */
  begin(rule: Rule, { values }: Target, manager?: EntityManager): Promise<Rule | null> {
    const intended = [...new Set([...(rule.intended ?? []), ...values])];
    return this.rules.change(rule, { intended }, manager);
  }

  /**
   * Stores that a switch was made, with its audit entry, notice and event; without these where nothing was written and
   * the rule served the same before.
   * @returns the rule as it is now; null: it was changed meanwhile
   */
  async made(
    manager: EntityManager,
    actor: Actor,
    domain: OpenDomain,
    rule: Rule,
    { target, why, hold }: Wish,
    { before, changeSet }: Omit<Switched, 'rule'>,
  ): Promise<Rule | null> {
    const served = { active: target.active, served: target.values, intended: null, failure: null };
    await this.waiting.outdate(domain.id, waitingAs(rule, domain).subject, manager);
    if (actor === 'system' && changeSet === null && sameValues(target.values, servedBy(rule)))
      return this.rules.change(rule, served, manager);
    // the checks are those that the switch was decided by
    const automatic = actor === 'system' && { recent: [...lastHour(rule.recent), now()], checks: rule.checks };
    const held = hold && { hold: hold.on, hold_reason: hold.reason, ...hold.maker };
    const fields = { ...served, switched_at: now(), switches: rule.switches + 1, ...automatic, ...held };
    const changed = await this.rules.change(rule, fields, manager);
    if (!changed) return null;
    const named = nameOf(rule);
    const values = target.values.join(', ');
    await this.audit.write(manager, actor, {
      action: 'failover.switch',
      domain,
      target: { type: 'failover_rule', id: rule.id, name: named },
      before: { active: rule.active, values: before },
      after: { ...target, why },
      changeSet,
    });
    if (rule.config.notify)
      await this.notices.tell(manager, {
        event: 'failover.switched',
        text: `${named}: ${why}; ${target.active} is served: ${values}`,
        domain: domain.name,
        details: { rule: rule.id, active: target.active, values },
      });
    this.db.afterCommit(manager, () => void this.events.emit('failover.switched', domain.id, rule.id, target.active));
    return changed;
  }

  /** What a switch would find, and why it would be refused, without writing anything. */
  async rehearse(
    actor: Actor,
    domain: OpenDomain,
    rule: Rule,
    target: Target,
  ): Promise<{ before: string[]; refused: string | null }> {
    await this.readings.refresh(domain);
    let before: string[] = [];
    const options = { door: 'failover', comment: '', atomic: true } as const;
    try {
      await this.rrsets.replace(actor, domain, rule.config, options, (values) => {
        before = values;
        valuesToWrite(rule, target, values);
        throw new Rehearsed();
      });
    } catch (error) {
      if (error instanceof Foreign) return { before, refused: error.message };
      if (!(error instanceof Rehearsed)) throw error;
    }
    return { before, refused: null };
  }
}
