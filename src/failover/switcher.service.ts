import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { type Actor, AuditService } from '../audit/audit.service.js';
import { now } from '../common/clock.js';
import { AppError, errors } from '../common/errors.js';
import { log } from '../common/logger.js';
import { Db } from '../database/db.js';
import { Leases } from '../database/leases.js';
import { WRITE } from '../domains/access-rights.js';
import type { OpenDomain } from '../domains/domain-policy.js';
import { DomainsService } from '../domains/domains.service.js';
import { Events } from '../events/events.js';
import { Notices } from '../notifications/notices.service.js';
import { ProviderError } from '../providers/errors.js';
import { RecordSyncService } from '../records/record-sync.service.js';
import { RrsetsService, SetChanged } from '../records/rrsets/rrsets.service.js';
import { isAsLeft, lastHour, sameValues, type Target } from './decide.js';
import { type Rule, RuleStore, servedBy } from './rule-store.js';

/** ms that a switch and a configuration of a domain wait for each other */
const WAIT_MS = 10_000;

/** A rule was written by somebody else meanwhile, or its values were checked: it is to be decided anew. */
export class Stale extends Error {}

/** The record set is not as the rule left it. */
class Foreign extends AppError {
  constructor(readonly found: readonly string[]) {
    const holds = found.length ? found.join(', ') : 'nothing';
    super(409, 409001, `The record set was changed by somebody else: it holds ${holds}`);
  }
}

/** What a configuration of a domain holds as a whole, of which each rule that is switched is a part. */
const lockOf = (domainId: number): string => `failover|${domainId}`;

/** Whether some of a switch that failed may be in DNS. Of another 412001 the provider may have taken other records. */
const mayHaveApplied = (error: unknown): boolean => {
  if (error instanceof ProviderError) return error.mayHaveApplied;
  if (error instanceof SetChanged || error instanceof Stale) return false;
  return !(error instanceof AppError) || error.status === 412;
};

/** A rehearsal ends before anything is written. */
class Rehearsed extends Error {}

/** What a switch is done with. */
interface Wish {
  target: Target;
  /** in words, for the history */
  why: string;
  /** from then on; null: as it is */
  hold: { on: boolean; reason: string | null } | null;
  /** asked just before the writing: false, and nothing is written */
  wanted?: () => boolean;
}

export interface Switched {
  /** as it is now */
  rule: Rule;
  before: readonly string[];
  changeSet: number | null;
}

/** A reading of a zone that is under way, and the next one, which has not begun. */
interface Readings {
  current: Promise<void>;
  next: Promise<void> | null;
}

/** Carries out switches: what the provider holds is read, judged and written as one change set. */
@Injectable()
export class Switcher {
  private readonly readings = new Map<number, Readings>();

  constructor(
    private readonly db: Db,
    private readonly leases: Leases,
    private readonly store: RuleStore,
    private readonly domains: DomainsService,
    private readonly sync: RecordSyncService,
    private readonly rrsets: RrsetsService,
    private readonly audit: AuditService,
    private readonly notices: Notices,
    private readonly events: Events,
  ) {}

  /** Runs `work` while no rule of the domain is switched, and nobody else is in here. @throws AppError 409001 */
  alone<T>(domainId: number, work: () => Promise<T>): Promise<T> {
    return this.leases.hold([lockOf(domainId)], WAIT_MS, work, { whole: true });
  }

  /**
   * Brings the record set to what the rule shall serve, by itself. Where the set is not as the rule left it, the rule
   * goes on hold.
   * @param wanted asked just before the writing, since a provider may be slow: whether it is still to be served
   * @returns the rule as it is now
   * @throws Stale, also when it is not; AppError, ProviderError when nobody knows what is served
   */
  async byItself(rule: Rule, target: Target, why: string, wanted: () => boolean): Promise<Rule> {
    const domain = await this.domains.reload(rule.domain_id);
    // whoever made the rule had the right; it stays one of the domain
    const all = { ...domain, access: { level: WRITE, hosts: [], rules: null } };
    return (await this.switch('system', all, rule, { target, why, hold: null, wanted })).rule;
  }

  /** @throws Stale; AppError 409001 where the set is not as the rule left it; ProviderError */
  async switch(actor: Actor, domain: OpenDomain, rule: Rule, wish: Wish): Promise<Switched> {
    await this.fresh(domain);
    const within = lockOf(domain.id);
    return this.leases.hold([`${within}|${rule.id}`], WAIT_MS, () => this.locked(actor, domain, rule, wish), {
      within,
    });
  }

  private async locked(actor: Actor, domain: OpenDomain, rule: Rule, wish: Wish): Promise<Switched> {
    const { config } = rule;
    const { target, why, hold, wanted } = wish;
    // so that a switch that is cut off is known again, and one before it whose end nobody knows
    const intended = [...new Set([...(rule.intended ?? []), ...target.values])];
    const begun = await this.store.change(rule, { intended });
    if (!begun) throw new Stale();
    let before: string[] = [];
    let changeSet: number | null;
    try {
      const comment = `rule ${rule.id}: ${why}`.slice(0, 255);
      const options = { door: 'failover', comment, atomic: true } as const;
      changeSet = await this.rrsets.replace(actor, domain, config, options, (values) => {
        before = values;
        if (wanted?.() === false) throw new Stale();
        // what this switch is about to write excuses nothing: only one that was cut off before does
        return this.judged(rule, target, values);
      });
    } catch (error) {
      if (actor === 'system' && error instanceof Foreign)
        return { rule: await this.holds(begun, error.message), before, changeSet: null };
      // what failed is told, whatever becomes of this
      if (!mayHaveApplied(error)) await this.store.change(begun, { intended: rule.intended }).catch(() => null);
      throw error;
    }
    const served = { active: target.active, served: target.values, intended: null };
    // there was nothing to finish: no switch, and no news
    if (actor === 'system' && changeSet === null && sameValues(target.values, servedBy(rule)))
      return { rule: await this.noted(begun, served), before, changeSet };
    const fields: Partial<Rule> = {
      ...served,
      switched_at: now(),
      switches: rule.switches + 1,
      // with what it was decided by
      ...(actor === 'system' && { recent: [...lastHour(rule.recent), now()], checks: rule.checks }),
      ...(hold && { hold: hold.on, hold_reason: hold.reason }),
    };
    const named = `${rule.name} ${config.type}`;
    const after = await this.db.transaction(async (manager) => {
      const changed = await this.noted(begun, fields, manager);
      await this.audit.write(manager, actor, {
        action: 'failover.switch',
        domain,
        target: { type: 'failover_rule', id: rule.id, name: named },
        before: { active: rule.active, values: before },
        after: { ...target, why },
        changeSet,
      });
      if (config.notify)
        await this.notices.tell(manager, {
          event: 'failover.switched',
          text: `${named}: ${why}; ${target.active} is served: ${target.values.join(', ')}`,
          domain: domain.name,
          details: { rule: rule.id, active: target.active, values: target.values.join(', ') },
        });
      this.db.afterCommit(manager, () => void this.events.emit('failover.switched', domain.id, rule.id, target.active));
      return changed;
    });
    return { rule: await this.looked(actor, domain, after, before), before, changeSet };
  }

  /**
   * Looks at the set after it was switched. Somebody may have changed it in the moment of the write, which most
   * vendors cannot tell: what is there beside it puts the rule on hold, and of a set that lost its last answer so the
   * values are put back.
   */
  private async looked(actor: Actor, domain: OpenDomain, rule: Rule, before: readonly string[]): Promise<Rule> {
    const wanted = servedBy(rule);
    try {
      await this.fresh(domain);
      const [found = []] = await this.rrsets.values(domain.id, [rule.config]);
      // what is not there yet, or still: a provider may show a write a little later
      if (found.length && found.every((value) => wanted.includes(value) || before.includes(value))) return rule;
      const words = new Foreign(found).message;
      if (found.length) return await this.holds(rule, words);
      const options = { door: 'failover', comment: `rule ${rule.id}: it held nothing`, atomic: true } as const;
      await this.rrsets.replace(actor, domain, rule.config, options, (values) => (values.length ? values : wanted));
      return await this.holds(rule, `${words}; ${wanted.join(', ')} was put back`);
    } catch (err) {
      log().warn({ rule: rule.id, name: rule.name, err }, 'what a switch has left could not be looked at');
      return rule;
    }
  }

  /** @throws Stale */
  private async noted(rule: Rule, fields: Partial<Rule>, manager?: EntityManager): Promise<Rule> {
    const changed = await this.store.change(rule, fields, manager);
    if (!changed) throw new Stale();
    return changed;
  }

  /** What a switch would find, and why it would be refused, without writing anything. */
  async rehearse(
    actor: Actor,
    domain: OpenDomain,
    rule: Rule,
    target: Target,
  ): Promise<{ before: string[]; refused: string | null }> {
    await this.fresh(domain);
    let before: string[] = [];
    const options = { door: 'failover', comment: '', atomic: true } as const;
    try {
      await this.rrsets.replace(actor, domain, rule.config, options, (values) => {
        before = values;
        this.judged(rule, target, values);
        throw new Rehearsed();
      });
    } catch (error) {
      if (error instanceof Foreign) return { before, refused: error.message };
      if (!(error instanceof Rehearsed)) throw error;
    }
    return { before, refused: null };
  }

  /** Tells that a switch does not succeed, where somebody wants to hear it. */
  async failed(rule: Rule, reason: string): Promise<void> {
    if (!rule.config.notify) return;
    await this.events.emit('notice', await this.notice(rule, reason));
  }

  /** Puts a rule on hold, since somebody has to look at it. @throws Stale */
  private async holds(rule: Rule, reason: string): Promise<Rule> {
    const notice = await this.notice(rule, `${reason}. The rule is on hold`);
    return this.db.transaction(async (manager) => {
      const held = await this.noted(rule, { hold: true, hold_reason: reason, intended: null }, manager);
      await this.audit.write(manager, 'system', {
        action: 'failover.hold',
        domain: { id: rule.domain_id, name: String(notice.domain) },
        target: { type: 'failover_rule', id: rule.id, name: `${rule.name} ${rule.config.type}` },
        after: { hold: true, reason },
      });
      if (rule.config.notify) await this.notices.tell(manager, notice);
      return held;
    });
  }

  private async notice({ id, domain_id, name, config }: Rule, reason: string) {
    const domain = await this.domains.reload(domain_id);
    const text = `${name} ${config.type}: ${reason}`;
    return { event: 'failover.failed', text, domain: domain.name, details: { rule: id } } as const;
  }

  /** @throws Foreign */
  private judged(rule: Rule, { values }: Target, found: readonly string[]): readonly string[] {
    if (sameValues(found, values)) return found;
    // a switch of ours was cut off where the provider takes one record after the other
    if (!found.length && rule.intended && values.length) return values;
    if (!isAsLeft(found, { ...rule.config, served: rule.served, intended: rule.intended })) throw new Foreign(found);
    if (!values.length) throw errors.conflict('The last answer is never removed');
    return values;
  }

  /** Reads the zone at its provider; rules of one domain that switch at once share a reading that begins after all. */
  private fresh(domain: OpenDomain): Promise<void> {
    const line = this.readings.get(domain.id) ?? { current: Promise.resolve(), next: null };
    this.readings.set(domain.id, line);
    line.next ??= line.current
      .catch(() => undefined)
      .then(async () => {
        line.next = null;
        line.current = this.sync.refresh(domain, 'system').then(() => undefined);
        await line.current.finally(() => line.next ?? this.readings.delete(domain.id));
      });
    return line.next;
  }
}
