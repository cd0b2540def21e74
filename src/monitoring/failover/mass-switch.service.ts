import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { changeRulesOf } from '../../domains/change-rules/change-rules.js';
import type { OpenDomain } from '../../domains/domain-policy.js';
import { Db } from '../../platform/database/db.js';
import { Leases } from '../../platform/database/leases.js';
import { RrsetsService } from '../../records/rrsets/rrsets.service.js';
import { sameValues, type Target } from './checks/decide.js';
import { FailoverRulesRepository } from './failover-rules.repository.js';
import { inPieces, type Outcome } from './in-pieces.js';
import { Foreign, mayHaveApplied, Stale, valuesToWrite } from './judge.js';
import type { Rule } from './rule.js';
import { RuleHolds } from './rule-holds.service.js';
import { RuleRights } from './rule-rights.service.js';
import { SwitchReview } from './switch-review.service.js';
import { lockOf, Switcher, WAIT_MS } from './switcher.service.js';
import { ZoneReadings } from './zone-readings.service.js';

/** rules of one domain that are switched in one list */
const MOST = 500;

/** An automatic switch: see `Switcher.byItself`. */
export interface Turn {
  rule: Rule;
  target: Target;
  why: string;
  wanted: () => boolean;
}

/** A switch whose intended values are stored. */
interface Begun {
  turn: Turn;
  rule: Rule;
}

/**
 * Switches many rules of one domain at once: with one reading of the zone, one list of changes, and one review. Each
 * rule is judged by itself, and one that is left out stops no other.
 */
@Injectable()
export class MassSwitch {
  constructor(
    private readonly db: Db,
    private readonly leases: Leases,
    private readonly rules: FailoverRulesRepository,
    private readonly rrsets: RrsetsService,
    private readonly rights: RuleRights,
    private readonly holds: RuleHolds,
    private readonly readings: ZoneReadings,
    private readonly switcher: Switcher,
    private readonly review: SwitchReview,
  ) {}

  /** How many rules of a domain may be switched together. */
  async most(domainId: number): Promise<number> {
    // what waits for an approval does so in the name of one maker
    const together = this.switcher
      .opened(domainId)
      .then((domain) => changeRulesOf(domain).approval.for === 'none' && this.rrsets.goTogether(domain));
    // one by one each switch reports the error
    return (await together.catch(() => false)) ? MOST : 1;
  }

  /** Switches rules of one domain. @returns what became of each, in their order */
  async switch(turns: readonly [Turn, ...Turn[]]): Promise<Outcome[]> {
    const [{ rule, target, why, wanted }] = turns;
    try {
      if (turns.length === 1) return [await this.switcher.byItself(rule, target, why, wanted)];
      const domain = await this.switcher.opened(rule.domain_id);
      await this.readings.refresh(domain);
      const within = lockOf(domain.id);
      const names = turns.map((turn) => `${within}|${turn.rule.id}`);
      return await this.leases.hold(names, WAIT_MS, () => this.locked(domain, turns), { within });
    } catch (error) {
      return turns.map(() => error as Error);
    }
  }

  private async locked(domain: OpenDomain, turns: readonly Turn[]): Promise<Outcome[]> {
    const outcomes = new Map<Turn, Outcome>();
    const begun = await this.begun(turns, outcomes);
    const before = new Map<Turn, string[]>();
    const wishes = begun.map(({ turn }) => ({
      key: turn.rule.config,
      choose: (values: string[]) => {
        before.set(turn, values);
        if (!turn.wanted()) throw new Stale();
        return valuesToWrite(turn.rule, turn.target, values);
      },
    }));
    const options = { door: 'failover', comment: commentOf(begun) } as const;
    const done = await this.rrsets
      .replaceEach('system', domain, wishes, options)
      .catch((error: unknown) => ({ changeSet: null, failures: begun.map(() => error) }));
    const written = begun.filter((_, i) => !done.failures[i]);
    await this.failed(
      begun.flatMap((one, i) => (done.failures[i] ? [{ ...one, error: done.failures[i] as Error }] : [])),
      outcomes,
    );
    const noted = await this.inPieces(written, ({ turn, rule }, manager) => {
      const values = before.get(turn) ?? [];
      const changeSet = sameValues(values, turn.target.values) ? null : done.changeSet;
      return this.switcher.made(
        manager,
        'system',
        domain,
        rule,
        { ...turn, hold: null },
        { before: values, changeSet },
      );
    });
    for (const [i, { turn }] of written.entries()) outcomes.set(turn, noted[i] ?? new Stale());
    const switched = written.flatMap(({ turn }) => {
      const rule = outcomes.get(turn) as Outcome;
      const isNews = !(rule instanceof Error) && rule.switches > turn.rule.switches;
      return isNews ? [{ turn, rule, before: before.get(turn) ?? [] }] : [];
    });
    const reviewed = switched.length ? await this.review.review('system', domain, switched) : [];
    for (const [i, { turn, rule }] of switched.entries()) outcomes.set(turn, reviewed[i] ?? rule);
    return turns.map((turn) => outcomes.get(turn) as Outcome);
  }

  /** Stores what is about to be written; rules whose makers may not write any more go on hold instead. */
  private async begun(turns: readonly Turn[], outcomes: Map<Turn, Outcome>): Promise<Begun[]> {
    const standings = await this.rights.of(turns.map(({ rule }) => rule));
    const endedOf = ({ rule }: Turn) => standings.get(rule.id)?.ended;
    const going = turns.filter((turn) => !endedOf(turn));
    const over = turns.flatMap((turn) => {
      const reason = endedOf(turn);
      return reason ? [{ turn, rule: turn.rule, reason }] : [];
    });
    const [first] = over;
    const held = first ? await this.holds.holdEndedOf(first.rule.domain_id, over) : [];
    for (const [i, { turn }] of over.entries()) outcomes.set(turn, held[i] as Outcome);
    const rules = await this.inPieces(going, ({ rule, target }, manager) => this.switcher.begin(rule, target, manager));
    return going.flatMap((turn, i) => {
      const rule = rules[i] ?? new Stale();
      if (!(rule instanceof Error)) return [{ turn, rule }];
      outcomes.set(turn, rule);
      return [];
    });
  }

  /** Puts rules on hold whose sets are not as they left them; the others are tried again. */
  private async failed(list: readonly (Begun & { error: Error })[], outcomes: Map<Turn, Outcome>): Promise<void> {
    for (const { turn, rule, error } of list) {
      const held = error instanceof Foreign ? this.holds.hold(rule, error.message) : Promise.resolve(error);
      outcomes.set(turn, await held.catch((failure: Error) => failure));
    }
    const untouched = list.filter(({ error }) => !(error instanceof Foreign) && !mayHaveApplied(error));
    await this.inPieces(untouched, ({ turn, rule }, manager) =>
      this.rules.change(rule, { intended: turn.rule.intended }, manager),
    );
  }

  private inPieces<T>(
    list: readonly T[],
    work: (one: T, manager: EntityManager) => Promise<Rule | null>,
  ): Promise<(Outcome | null)[]> {
    return inPieces(this.db, list, async (piece, manager) => {
      const own: (Rule | null)[] = [];
      for (const one of piece) own.push(await work(one, manager));
      return own;
    });
  }
}

/** The comment of a list in the history, cut to its length. */
function commentOf(list: readonly Begun[]): string {
  const rules = list.map(({ turn }) => `rule ${turn.rule.id}: ${turn.why}`).join('; ');
  const comment = `${list.length} rules at once: ${rules}`;
  return comment.length > 255 ? `${comment.slice(0, 254)}…` : comment;
}
