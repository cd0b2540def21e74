import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { type Actor, AuditService } from '../audit/audit.service.js';
import { RecordSyncService } from '../changes/record-sync.service.js';
import { now } from '../common/clock.js';
import { AppError, errors } from '../common/errors.js';
import { log } from '../common/logger.js';
import { type Maker } from '../common/maker.js';
import { Db } from '../database/db.js';
import { Leases } from '../database/leases.js';
import { systemAccess } from '../domains/access-rights.js';
import type { DomainRow, OpenDomain } from '../domains/domain-policy.js';
import { DomainsService } from '../domains/domains.service.js';
import { Events } from '../events/events.js';
import { Notices } from '../notifications/notices.service.js';
import { ProviderError } from '../providers/kit/http/errors.js';
import { RrsetsService, SetChanged } from '../records/rrsets/rrsets.service.js';
import { type HeldThing, Makers } from '../tokens/makers.service.js';
import { isAsLeft, lastHour, sameValues, type Target } from './decide.js';
import { FailoverRulesRepository } from './failover-rules.repository.js';
import { inPieces, type Outcome } from './in-pieces.js';
import { type Rule, servedBy } from './rule.js';
import { RuleRights } from './rule-rights.service.js';

/** rules that a notice about many names */
const NAMED = 10;
/** ms that a switch and a configuration of a domain wait for each other */
export const WAIT_MS = 10_000;

/** A rule was written by somebody else meanwhile, or its values were checked: it is to be decided anew. */
export class Stale extends Error {}

/** The record set is not as the rule left it. */
export class Foreign extends AppError {
  constructor(readonly found: readonly string[]) {
    const holds = found.length ? found.join(', ') : 'nothing';
    super(409, 409001, `The record set was changed by somebody else: it holds ${holds}`);
  }
}

/** What a configuration of a domain holds as a whole, of which each rule that is switched is a part. */
export const lockOf = (domainId: number): string => `failover|${domainId}`;

/** Whether some of a switch that failed may be in DNS. Of another 412001 the provider may have taken other records. */
export const mayHaveApplied = (error: unknown): boolean => {
  if (error instanceof ProviderError) return error.mayHaveApplied;
  if (error instanceof SetChanged || error instanceof Stale) return false;
  return !(error instanceof AppError) || error.status === 412;
};

/** A rehearsal ends before anything is written. */
class Rehearsed extends Error {}

/** What a switch is done with. */
export interface Wish {
  target: Target;
  /** in words, for the history */
  why: string;
  /** from then on; null: as it is. A rule that is released so is of who releases it */
  hold: { on: boolean; reason: string | null; maker?: Maker } | null;
  /** asked just before the writing: false, and nothing is written */
  wanted?: () => boolean;
}

export interface Switched {
  /** as it is now */
  rule: Rule;
  before: readonly string[];
  changeSet: number | null;
}

/** A rule that was switched, and what its set held before. */
interface Left {
  rule: Rule;
  before: readonly string[];
}

/** A rule whose maker may not write any more, and why. */
export interface Ended {
  rule: Rule;
  reason: string;
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
    private readonly rules: FailoverRulesRepository,
    private readonly domains: DomainsService,
    private readonly sync: RecordSyncService,
    private readonly rrsets: RrsetsService,
    private readonly rights: RuleRights,
    private readonly makers: Makers,
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
    const domain = await this.opened(rule.domain_id);
    return (await this.switch('system', domain, rule, { target, why, hold: null, wanted })).rule;
  }

  /** A domain for what rules do by themselves: the rights of their makers are judged under their locks. */
  async opened(domainId: number): Promise<OpenDomain> {
    return { ...(await this.domains.reload(domainId)), access: systemAccess };
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
    const { target, why, wanted } = wish;
    if (actor === 'system') {
      const ended = (await this.rights.of([rule])).get(rule.id)?.ended;
      if (ended) {
        const [held = new Stale()] = await this.endedIn(domain.id, [{ rule, reason: ended }]);
        if (held instanceof Error) throw held;
        return { rule: held, before: [], changeSet: null };
      }
    }
    const begun = await this.begin(rule, target);
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
      if (!mayHaveApplied(error)) await this.rules.change(begun, { intended: rule.intended }).catch(() => null);
      throw error;
    }
    const after = await this.db.transaction((manager) =>
      this.made(manager, actor, domain, begun, wish, { before, changeSet }),
    );
    if (!after) throw new Stale();
    const isNews = after.switches > rule.switches;
    const [looked = after] = isNews ? await this.looked(actor, domain, [{ rule: after, before }]) : [];
    return { rule: looked, before, changeSet };
  }

  /** Notes what a switch is about to write: so it is known again when it is cut off, as is one before it. */
  begin(rule: Rule, { values }: Target, manager?: EntityManager): Promise<Rule | null> {
    const intended = [...new Set([...(rule.intended ?? []), ...values])];
    return this.rules.change(rule, { intended }, manager);
  }

  /**
   * Notes that a switch was made, and tells of it. Where there was nothing to finish, it is no switch, and no news.
   * @returns the rule as it is now; null: somebody else has written it
   */
  async made(
    manager: EntityManager,
    actor: Actor,
    domain: OpenDomain,
    rule: Rule,
    { target, why, hold }: Wish,
    { before, changeSet }: Omit<Switched, 'rule'>,
  ): Promise<Rule | null> {
    const { config } = rule;
    const served = { active: target.active, served: target.values, intended: null };
    if (actor === 'system' && changeSet === null && sameValues(target.values, servedBy(rule)))
      return this.rules.change(rule, served, manager);
    const fields: Partial<Rule> = {
      ...served,
      switched_at: now(),
      switches: rule.switches + 1,
      // with what it was decided by
      ...(actor === 'system' && { recent: [...lastHour(rule.recent), now()], checks: rule.checks }),
      ...(hold && { hold: hold.on, hold_reason: hold.reason, ...hold.maker }),
    };
    const named = `${rule.name} ${config.type}`;
    const changed = await this.rules.change(rule, fields, manager);
    if (!changed) return null;
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
  }

  /**
   * Looks at sets after they were switched. Somebody may have changed one in the moment of the write, which most
   * vendors cannot tell: what is there beside it puts the rule on hold, and of a set that lost its last answer so the
   * values are put back.
   * @returns the rules as they are now, in their order
   */
  async looked(actor: Actor, domain: OpenDomain, list: readonly Left[]): Promise<Rule[]> {
    const unseen = (rule: Rule, err: unknown) => {
      log().warn({ rule: rule.id, name: rule.name, err }, 'what a switch has left could not be looked at');
      return rule;
    };
    const rules: Rule[] = [];
    try {
      await this.fresh(domain);
      const found = await this.rrsets.values(
        domain.id,
        list.map(({ rule }) => rule.config),
      );
      for (const [i, one] of list.entries())
        rules.push(await this.seen(actor, domain, one, found[i] ?? []).catch((err) => unseen(one.rule, err)));
      return rules;
    } catch (err) {
      return list.map(({ rule }) => unseen(rule, err));
    }
  }

  private async seen(actor: Actor, domain: OpenDomain, { rule, before }: Left, found: string[]): Promise<Rule> {
    const wanted = servedBy(rule);
    // what is not there yet, or still: a provider may show a write a little later
    if (found.length && found.every((value) => wanted.includes(value) || before.includes(value))) return rule;
    const words = new Foreign(found).message;
    if (found.length) return this.holds(rule, words);
    const options = { door: 'failover', comment: `rule ${rule.id}: it held nothing`, atomic: true } as const;
    await this.rrsets.replace(actor, domain, rule.config, options, (values) => (values.length ? values : wanted));
    return this.holds(rule, `${words}; ${wanted.join(', ')} was put back`);
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

  /**
   * Puts rules of a domain on hold whose makers may not write any more, and with them its other ones of which that is
   * so: owner and administrators are told of them together.
   * @returns what became of those in the list, in their order
   */
  async endedIn(domainId: number, list: readonly Ended[]): Promise<Outcome[]> {
    const known = new Set(list.map(({ rule }) => rule.id));
    // one that is being switched is held by who is at it
    const isOther = ({ id, hold, intended }: Rule) => !known.has(id) && !hold && intended === null;
    const others = (await this.rules.ofDomain(domainId)).filter(isOther);
    const standings = await this.rights.of(others);
    const more = others.flatMap((rule) => {
      const reason = standings.get(rule.id)?.ended;
      return reason ? [{ rule, reason }] : [];
    });
    return (await this.allEnded([...list, ...more])).slice(0, list.length);
  }

  /**
   * Puts rules on hold whose makers may not write any more; owner and administrators are told once of those of one
   * domain that one maker's end holds.
   * @returns what became of each, in their order
   */
  async allEnded(list: readonly Ended[]): Promise<Outcome[]> {
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
      const held = await this.endedTogether(group).catch((error: Error) => group.map(() => error));
      for (const [i, one] of group.entries()) outcomes.set(one, held[i] ?? new Stale());
    }
    return list.map((one) => outcomes.get(one) as Outcome);
  }

  private async endedTogether(group: readonly Ended[]): Promise<(Outcome | null)[]> {
    const [{ rule: first, reason }] = group as [Ended];
    const domain = await this.domains.reload(first.domain_id);
    const rules = group.map(({ rule }) => rule);
    let isTold = false;
    return inPieces(this.db, rules, async (piece, manager, rest) => {
      const held: (Rule | null)[] = [];
      for (const rule of piece) held.push(await this.held(manager, rule, domain.name, reason));
      if (isTold || !held.some(Boolean)) return held;
      // with the first piece: if the process dies after it, what it has held was told all the same
      await this.tellEnded(manager, [...piece.filter((_, i) => held[i]), ...rest], domain, reason);
      this.db.afterCommit(manager, () => {
        isTold = true;
      });
      return held;
    });
  }

  private async tellEnded(
    manager: EntityManager,
    rules: readonly Rule[],
    { name: domain, owner_id: owner }: DomainRow,
    reason: string,
  ): Promise<void> {
    const heard = rules.filter(({ config }) => config.notify);
    if (heard.length)
      await this.notices.tell(manager, {
        event: 'failover.failed',
        domain,
        ...toldOf(heard, (on) => `${reason}. ${on}`),
      });
    const words = (on: string, them: string) =>
      `${reason}. ${on}; hold: false by somebody who may write the domain releases ${them}`;
    const { text, details } = toldOf(rules, words);
    await this.makers.tell(manager, { text: `failover of ${text}`, domain, owner, details });
  }

  /** Puts a rule on hold, since somebody has to look at it. @throws Stale */
  async holds(rule: Rule, reason: string): Promise<Rule> {
    const notice = await this.notice(rule, `${reason}. The rule is on hold`);
    return this.db.transaction(async (manager) => {
      const held = await this.held(manager, rule, notice.domain, reason);
      if (!held) throw new Stale();
      if (rule.config.notify) await this.notices.tell(manager, notice);
      return held;
    });
  }

  /** Notes that a rule is on hold. @returns the rule as it is now; null: somebody else has written it */
  private async held(manager: EntityManager, rule: Rule, domain: string, reason: string): Promise<Rule | null> {
    const held = await this.rules.change(rule, { hold: true, hold_reason: reason, intended: null }, manager);
    if (!held) return null;
    await this.audit.write(manager, 'system', {
      action: 'failover.hold',
      domain: { id: rule.domain_id, name: domain },
      target: { type: 'failover_rule', id: rule.id, name: namedOf(rule) },
      after: { hold: true, reason },
    });
    return held;
  }

  private async notice({ id, domain_id, name, config }: Rule, reason: string) {
    const domain = await this.domains.reload(domain_id);
    const text = `${name} ${config.type}: ${reason}`;
    return { event: 'failover.failed', text, domain: domain.name, details: { rule: id } } as const;
  }

  /** What the set shall hold, by what it holds. @throws Foreign; AppError 409001 */
  judged(rule: Rule, { values }: Target, found: readonly string[]): readonly string[] {
    if (sameValues(found, values)) return found;
    // a switch of ours was cut off where the provider takes one record after the other
    if (!found.length && rule.intended && values.length) return values;
    if (!isAsLeft(found, { ...rule.config, served: rule.served, intended: rule.intended })) throw new Foreign(found);
    if (!values.length) throw errors.conflict('The last answer is never removed');
    return values;
  }

  /** Reads the zone at its provider; rules of one domain that switch at once share a reading that begins after all. */
  fresh(domain: OpenDomain): Promise<void> {
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

const namedOf = ({ name, config }: Rule): string => `${name} ${config.type}`;

/** What is told of one rule on hold, or at once of many: their number, and the first names behind all else. */
function toldOf(
  rules: readonly Rule[],
  words: (on: string, them: string) => string,
): Required<Pick<HeldThing, 'text' | 'details'>> {
  const [first, ...more] = rules as [Rule];
  if (!more.length)
    return { text: `${namedOf(first)}: ${words('The rule is on hold', 'it')}`, details: { rule: first.id } };
  const names = rules.slice(0, NAMED).map(namedOf).join(', ');
  const left = rules.length > NAMED ? ` and ${rules.length - NAMED} more` : '';
  const text = `${rules.length} rules: ${words('The rules are on hold', 'them')}: ${names}${left}`;
  return { text, details: { rules: rules.length, names } };
}
