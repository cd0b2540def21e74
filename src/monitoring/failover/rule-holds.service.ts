import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AuditService } from '../../audit/audit.service.js';
import type { DomainRow } from '../../domains/domain-policy.js';
import { DomainsService } from '../../domains/domains.service.js';
import { Notices } from '../../notifications/notices.service.js';
import { Db } from '../../platform/database/db.js';
import { Events } from '../../platform/events/events.js';
import { type HeldThing, Makers } from '../../tokens/makers.service.js';
import { FailoverRulesRepository } from './failover-rules.repository.js';
import { inPieces, type Outcome } from './in-pieces.js';
import { Stale } from './judge.js';
import { nameOf, type Rule } from './rule.js';
import { RuleRights } from './rule-rights.service.js';

/** rules that a notice about many names */
const NAMED = 10;

/** A rule whose maker may not write any more, and why. */
export interface Ended {
  rule: Rule;
  reason: string;
}

/** Puts rules on hold, and notifies of it. */
@Injectable()
export class RuleHolds {
  constructor(
    private readonly db: Db,
    private readonly rules: FailoverRulesRepository,
    private readonly domains: DomainsService,
    private readonly rights: RuleRights,
    private readonly makers: Makers,
    private readonly audit: AuditService,
    private readonly notices: Notices,
    private readonly events: Events,
  ) {}

  /** Notifies of a switch that fails, where the rule asks for notices. */
  async notifyFailure(rule: Rule, reason: string): Promise<void> {
    if (!rule.config.notify) return;
    await this.events.emit('notice', await this.notice(rule, reason));
  }

  /** Shows why the last switch of a rule failed; null: it did not. */
  async failed({ id }: Rule, failure: string | null): Promise<void> {
    await this.rules.writeFailure(id, failure);
  }

  /** Puts a rule on hold, since somebody has to look at it. @throws Stale */
  async hold(rule: Rule, reason: string): Promise<Rule> {
    const notice = await this.notice(rule, `${reason}. The rule is on hold`);
    return this.db.transaction(async (manager) => {
      const held = await this.write(manager, rule, notice.domain, reason);
      if (!held) throw new Stale();
      if (rule.config.notify) await this.notices.tell(manager, notice);
      return held;
    });
  }

  /**
   * Puts rules of one domain on hold whose makers may not write any more, and with them all others of the domain of
   * which that is so, with one notice for them all.
   * @returns what became of those in the list, in their order
   */
  async holdEndedOf(domainId: number, list: readonly Ended[]): Promise<Outcome[]> {
    const known = new Set(list.map(({ rule }) => rule.id));
    // one whose switch is in flight is put on hold by that switch
    const isOther = ({ id, hold, intended }: Rule) => !known.has(id) && !hold && intended === null;
    const others = (await this.rules.ofDomain(domainId)).filter(isOther);
    const standings = await this.rights.of(others);
    const more = others.flatMap((rule) => {
      const reason = standings.get(rule.id)?.ended;
      return reason ? [{ rule, reason }] : [];
    });
    return (await this.holdEnded([...list, ...more])).slice(0, list.length);
  }

  /**
   * Puts rules on hold whose makers may not write any more, with one notice to owner and administrators for all rules
   * of one domain that are held for the same maker and reason.
   * @returns what became of each, in their order
   */
  async holdEnded(list: readonly Ended[]): Promise<Outcome[]> {
    const groups = new Map<string, Ended[]>();
    for (const one of list) {
      const { domain_id, maker_id, maker_token_id } = one.rule;
      const key = JSON.stringify([domain_id, maker_id, maker_token_id, one.reason]);
      const group = groups.get(key) ?? [];
      group.push(one);
      groups.set(key, group);
    }
    const outcomes = new Map<Ended, Outcome>();
    for (const group of groups.values()) {
      group.sort((a, b) => a.rule.position - b.rule.position);
      const held = await this.holdGroup(group).catch((error: Error) => group.map(() => error));
      for (const [i, one] of group.entries()) outcomes.set(one, held[i] ?? new Stale());
    }
    return list.map((one) => outcomes.get(one) as Outcome);
  }

  private async holdGroup(group: readonly Ended[]): Promise<(Outcome | null)[]> {
    const [{ rule: first, reason }] = group as [Ended];
    const domain = await this.domains.reload(first.domain_id);
    const rules = group.map(({ rule }) => rule);
    let isNotified = false;
    return inPieces(this.db, rules, async (piece, manager, rest) => {
      const held: (Rule | null)[] = [];
      for (const rule of piece) held.push(await this.write(manager, rule, domain.name, reason));
      if (isNotified || !held.some(Boolean)) return held;
      // with the first piece, so that no rule is on hold without a notice if the process dies after it
      await this.notifyEnded(manager, [...piece.filter((_, i) => held[i]), ...rest], domain, reason);
      this.db.afterCommit(manager, () => {
        isNotified = true;
      });
      return held;
    });
  }

  private async notifyEnded(
    manager: EntityManager,
    rules: readonly Rule[],
    { name: domain, owner_id: owner }: DomainRow,
    reason: string,
  ): Promise<void> {
    const noticed = rules.filter(({ config }) => config.notify);
    if (noticed.length)
      await this.notices.tell(manager, {
        event: 'failover.failed',
        domain,
        ...noticeOf(noticed, (on) => `${reason}. ${on}`),
      });
    const words = (on: string, them: string) =>
      `${reason}. ${on}; hold: false by somebody who may write the domain releases ${them}`;
    const { text, details } = noticeOf(rules, words);
    await this.makers.tell(manager, { text: `failover of ${text}`, domain, owner, details });
  }

  /** @returns the rule as it is now; null: it was changed meanwhile */
  private async write(manager: EntityManager, rule: Rule, domain: string, reason: string): Promise<Rule | null> {
    const held = await this.rules.change(rule, { hold: true, hold_reason: reason, intended: null }, manager);
    if (!held) return null;
    await this.audit.write(manager, 'system', {
      action: 'failover.hold',
      domain: { id: rule.domain_id, name: domain },
      target: { type: 'failover_rule', id: rule.id, name: nameOf(rule) },
      after: { hold: true, reason },
    });
    return held;
  }

  private async notice(rule: Rule, reason: string) {
    const { name: domain } = await this.domains.reload(rule.domain_id);
    return {
      event: 'failover.failed',
      text: `${nameOf(rule)}: ${reason}`,
      domain,
      details: { rule: rule.id },
    } as const;
  }
}

/** The notice of one rule on hold, or of many at once: their number, and the first names at its end. */
function noticeOf(
  rules: readonly Rule[],
  words: (on: string, them: string) => string,
): Required<Pick<HeldThing, 'text' | 'details'>> {
  const [first, ...more] = rules as [Rule];
  if (!more.length)
    return { text: `${nameOf(first)}: ${words('The rule is on hold', 'it')}`, details: { rule: first.id } };
  const names = rules.slice(0, NAMED).map(nameOf).join(', ');
  const left = rules.length > NAMED ? ` and ${rules.length - NAMED} more` : '';
  const text = `${rules.length} rules: ${words('The rules are on hold', 'them')}: ${names}${left}`;
  return { text, details: { rules: rules.length, names } };
}
