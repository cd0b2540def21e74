import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { now } from '../common/clock.js';
import { actingLater } from '../common/deadline.js';
import { AppError } from '../common/errors.js';
import { FairPool } from '../common/fair-pool.js';
import { log } from '../common/logger.js';
import { isDatabaseDown } from '../database/db.js';
import { lateAfter } from '../jobs/job-state.js';
import { Jobs } from '../jobs/jobs.js';
import { provide } from '../metrics/metrics.js';
import { apart, traced } from '../traces/traces.js';
import {
  type Check,
  counted,
  inMaintenance,
  isReturn,
  limitedUntil,
  sameValues,
  type Target,
  targetOf,
  UNKNOWN,
} from './decide.js';
import { type Checked, FailoverRulesRepository } from './failover-rules.repository.js';
import type { Outcome } from './in-pieces.js';
import { Stale } from './judge.js';
import { MassSwitch, type Turn } from './mass-switch.service.js';
import { checksOf, type FollowedRule, type Rule, servedBy } from './rule.js';
import { RuleHolds } from './rule-holds.service.js';
import { RuleRights, type Standing } from './rule-rights.service.js';
import { Votes } from './votes.service.js';

/**
 * ms until a process finds that there is something to check, and between two looks at what was changed, when what was
 * found out is written
 */
const BEGIN_MS = 2000;
const FOLLOW_MS = 1000;
/** ms between two looks whether the makers of rules may still write */
const RIGHTS_MS = 5000;
/** ms for which it is kept which checks are late: several ask for it in one moment */
const LATE_KEPT_MS = 2000;
/** ms in which the first checks of new rules are spread at most */
const SPREAD_MS = 10_000;
/** ms until a switch that failed is tried again, doubled each time, up to the longest */
const RETRY_MS = 5000;
const MAX_RETRY_MS = 300_000;

/** A rule that this process checks. */
interface Watched {
  rule: FollowedRule;
  /** whether it may look for a text at inner addresses: its maker is an administrator, as of the last look */
  inside: boolean;
  timer: NodeJS.Timeout | undefined;
  /** ms of `performance.now()`, which nobody sets back: when the next check is due, in step with those before */
  due: number;
  checking: boolean;
  switching: boolean;
  /** of a switch that fails: since how many tries, and not before when, in ms of `performance.now()` */
  failures: number;
  retryAt: number;
  /** that it switches too often was told */
  limitTold: boolean;
  /** it is switched by itself: in a list of many somebody was in the way, maybe of another one */
  alone: boolean;
}

/** A rule that waits for its switch. */
interface Waiting {
  one: Watched;
  target: Target;
}

/** What is asked for: with another answer nothing of the old results is worth anything. */
const subjectOf = ({ name, config }: Rule): string => JSON.stringify([name, config.check]);

/**
 * Checks the targets of all rules on one process of all, and has switched what they decide. Each rule has a timer that
 * keeps its step; what was found out is in memory, and written for all together.
 */
@Injectable()
export class Watch implements OnModuleInit {
  private readonly watched = new Map<number, Watched>();
  private readonly found = new Set<number>();
  private readonly switches = new FairPool('failover switches');
  /** who waits for a place, by domain: a switch that begins takes all along that go together */
  private readonly waiting = new Map<number, Waiting[]>();
  private mark = '';
  /** when the rights of makers are looked at next, in ms of `performance.now()` */
  private rightsAt = 0;
  /** rules whose checks are late, as they were found last, and until when that is told, in ms of `performance.now()` */
  private lateRules: Promise<Checked[]> = Promise.resolve([]);
  private lateUntil = 0;
  private signal: AbortSignal = AbortSignal.abort();

  constructor(
    private readonly jobs: Jobs,
    private readonly rules: FailoverRulesRepository,
    private readonly votes: Votes,
    private readonly holds: RuleHolds,
    private readonly mass: MassSwitch,
    private readonly rights: RuleRights,
  ) {}

  onModuleInit(): void {
    this.jobs.schedule(
      'failover.check',
      BEGIN_MS,
      (signal) => apart(() => this.run(signal)),
      () => this.stopped(),
    );
    provide('zoneward_failover_rules', () => this.rules.countByState());
    provide('zoneward_failover_checks_stopped', async () => ({ rules: (await this.late()).length }));
  }

  /** Rules whose checks nobody has made for three of their intervals: found out by whoever asks, not by who checks. */
  private late(): Promise<Checked[]> {
    if (this.lateUntil < performance.now()) {
      this.lateUntil = performance.now() + LATE_KEPT_MS;
      this.lateRules = this.rules.lastChecks().then((all) => all.filter(isLate));
      this.lateRules.catch(() => {
        this.lateUntil = 0;
      });
    }
    return this.lateRules;
  }

  private async stopped(): Promise<string | null> {
    const late = await this.late();
    const [first] = late;
    if (!first) return null;
    const more = late.length > 1 ? `, and of ${late.length - 1} more` : '';
    return `the checks of ${first.name} have not run since ${first.last}${more}`;
  }

  /** Goes on as long as there are rules to follow, and this process has the job. */
  private async run(signal: AbortSignal): Promise<void> {
    this.signal = signal;
    this.mark = '';
    this.rightsAt = 0;
    let trouble = '';
    try {
      await this.follow();
      while (this.watched.size && !signal.aborted) {
        await pause(FOLLOW_MS, undefined, { signal }).catch(() => undefined);
        if (signal.aborted) break;
        // a database that is away for a while stops no check
        const looked = this.follow()
          .then(() => this.judge())
          .then(() => this.keep());
        await looked.then(
          () => {
            trouble = '';
          },
          (error: Error) => {
            if (!isDatabaseDown(error) && error.message !== trouble)
              log().warn({ err: error }, 'the rules of failover cannot be followed');
            trouble = error.message;
          },
        );
      }
    } finally {
      for (const one of this.watched.values()) clearTimeout(one.timer);
      await this.switches.onIdle();
      if (this.watched.size) await this.keep().catch(() => undefined);
      this.watched.clear();
      this.found.clear();
    }
  }

  /** Takes over what was changed of the rules. */
  private async follow(): Promise<void> {
    const mark = await this.rules.revision();
    if (mark === this.mark) return;
    const rules = new Map((await this.rules.followed()).map((rule) => [rule.id, rule]));
    const standings = await this.rights.of([...rules.values()]);
    this.mark = mark;
    for (const [id, one] of this.watched) {
      if (rules.has(id)) continue;
      clearTimeout(one.timer);
      this.watched.delete(id);
      this.found.delete(id);
    }
    for (const rule of rules.values()) {
      const known = this.watched.get(rule.id);
      if (!known) this.begin(rule, standings.get(rule.id));
      else if (known.rule.version < rule.version) this.renew(known, rule, standings.get(rule.id));
    }
  }

  /** Puts rules on hold whose makers may not write any more, before there is something to switch. */
  private async judge(): Promise<void> {
    if (this.rightsAt > performance.now()) return;
    this.rightsAt = performance.now() + RIGHTS_MS;
    // one on hold is not held once more; whose check reads a page may not go on with that
    const all = [...this.watched.values()].filter(({ rule }) => !rule.hold || rule.config.check.expect_body !== null);
    const standings = await this.rights.of(all.map(({ rule }) => rule));
    const over = all.flatMap((one) => {
      const { ended: reason, inside } = standings.get(one.rule.id) ?? { ended: null, inside: false };
      one.inside = inside;
      return reason && !one.rule.hold && !one.switching ? [{ one, rule: one.rule, reason }] : [];
    });
    if (!over.length) return;
    const outcomes = await this.holds.holdEnded(over);
    this.mark = '';
    for (const [i, { one }] of over.entries()) {
      const held = outcomes[i] as Outcome;
      if (!(held instanceof Error)) one.rule = { ...one.rule, ...held, checks: one.rule.checks };
    }
    // what somebody has written is looked at once more
    const failure = outcomes.find((held) => held instanceof Error && !(held instanceof Stale));
    if (failure) throw failure;
  }

  private begin(rule: FollowedRule, standing: Standing | undefined): void {
    const spread = Math.min(rule.config.check.interval_s * 1000, SPREAD_MS);
    const due = performance.now() + Math.random() * spread;
    const idle = {
      timer: undefined,
      checking: false,
      switching: false,
      failures: 0,
      retryAt: 0,
      limitTold: false,
      alone: false,
    };
    const one: Watched = { rule, inside: standing?.inside ?? false, due, ...idle };
    this.watched.set(rule.id, one);
    this.plan(one);
  }

  private renew(one: Watched, rule: FollowedRule, standing: Standing | undefined): void {
    const before = one.rule;
    const same = subjectOf(before) === subjectOf(rule);
    const checks = same ? checksOf(rule.config, { ...rule.checks, ...before.checks }) : rule.checks;
    one.rule = { ...rule, checks };
    one.inside = standing?.inside ?? false;
    if (before.config.check.interval_s === rule.config.check.interval_s) return;
    clearTimeout(one.timer);
    one.due = performance.now() + Math.random() * Math.min(rule.config.check.interval_s * 1000, SPREAD_MS);
    this.plan(one);
  }

  private plan(one: Watched): void {
    one.timer = setTimeout(() => void this.check(one), Math.max(0, one.due - performance.now())).unref();
  }

  private async check(one: Watched): Promise<void> {
    const every = one.rule.config.check.interval_s * 1000;
    // those that were missed, since the process was stopped, are left out
    one.due += every * Math.max(1, Math.ceil((performance.now() - one.due) / every));
    this.plan(one);
    if (one.checking) return;
    one.checking = true;
    const { name, config, owner_id } = one.rule;
    const subject = subjectOf(one.rule);
    try {
      const values = [...config.primary, ...config.backup];
      const public_only = config.check.expect_body !== null && !one.inside;
      const check = public_only ? { ...config.check, public_only } : config.check;
      const verdicts = await Promise.all(
        values.map((value) => this.votes.of({ value, name, check }, owner_id, this.signal)),
      );
      // asked about something else by now, or no longer by this process
      if (this.watched.get(one.rule.id) !== one || this.signal.aborted || subject !== subjectOf(one.rule)) return;
      const at = now();
      const checks = { ...one.rule.checks };
      for (const [i, value] of values.entries()) {
        const verdict = verdicts[i] as (typeof verdicts)[0];
        checks[value] = counted(checks[value] ?? UNKNOWN, verdict, config.check as Check, at);
      }
      one.rule = { ...one.rule, checks: checksOf(one.rule.config, checks) };
      this.found.add(one.rule.id);
      this.decide(one);
    } catch (error) {
      // another process checks
      if (!this.signal.aborted) throw error;
    } finally {
      one.checking = false;
    }
  }

  /** Has switched what is to be switched. */
  private decide(one: Watched): void {
    const { rule } = one;
    const { config } = rule;
    const target = targetOf({ ...config, ...rule });
    const served = servedBy(rule);
    if (!target || (rule.intended === null && sameValues(target.values, served))) {
      one.failures = 0;
      one.limitTold = false;
      return;
    }
    if (rule.hold || one.switching || one.retryAt > performance.now() || inMaintenance(config, now())) return;
    const until = isReturn(served, rule.checks) && limitedUntil(rule.recent, config.max_switches_per_hour);
    if (until) {
      if (one.limitTold) return;
      one.limitTold = true;
      const words = `it has switched ${config.max_switches_per_hour} times within an hour, and brings nothing back until ${until}`;
      log().warn({ rule: rule.id, name: rule.name }, words);
      void this.holds.notifyFailure(rule, words).catch(() => undefined);
      return;
    }
    one.switching = true;
    const { domain_id: domain } = rule;
    this.waiting.set(domain, [...(this.waiting.get(domain) ?? []), { one, target }]);
    void this.switches.run({ user: rule.owner_id, target: domain }, () => this.switch(domain));
  }

  /** Switches what waits in a domain: all that goes together, or one. Another place may have taken it along already. */
  private async switch(domainId: number): Promise<void> {
    const some = await this.taken(domainId);
    try {
      // checks go on while they wait for their turn, and for the provider
      const going = some.filter((waiting) => !this.signal.aborted && isWanted(waiting));
      const [first, ...more] = going.map((waiting) => ({ waiting, ...turnOf(waiting) }));
      if (!first) return;
      const outcomes = await traced('failover switch', { place: 'root' }, () =>
        actingLater(() => this.mass.switch([first, ...more])),
      );
      for (const [i, { waiting, rule, why }] of [first, ...more].entries())
        await this.switched(waiting, rule, why, outcomes[i] as Outcome, more.length > 0);
    } finally {
      for (const { one } of some) one.switching = false;
    }
  }

  private async taken(domainId: number): Promise<Waiting[]> {
    const several = (this.waiting.get(domainId)?.length ?? 0) > 1;
    const most = several ? await this.mass.most(domainId) : 1;
    const line = this.waiting.get(domainId) ?? [];
    const together = line.filter(({ one }) => !one.alone).slice(0, most);
    const some = new Set(together.length ? together : line.slice(0, 1));
    const left = line.filter((waiting) => !some.has(waiting));
    if (left.length) this.waiting.set(domainId, left);
    else this.waiting.delete(domainId);
    return [...some];
  }

  private async switched({ one, target }: Waiting, rule: Rule, why: string, outcome: Outcome, wasOneOfMany: boolean) {
    if (!(outcome instanceof Error)) {
      one.failures = 0;
      one.alone = false;
      // checks have gone on meanwhile
      if (outcome.version > one.rule.version)
        one.rule = { ...outcome, owner_id: one.rule.owner_id, checks: one.rule.checks };
      log().info({ rule: rule.id, name: rule.name, ...target, hold: outcome.hold }, why);
      return;
    }
    // what is stored by now comes with the next look
    this.mark = '';
    if (outcome instanceof Stale) return;
    one.retryAt = performance.now() + Math.min(RETRY_MS * 2 ** one.failures, MAX_RETRY_MS);
    one.failures++;
    one.alone = wasOneOfMany && outcome instanceof AppError && outcome.status === 409;
    const { message } = outcome;
    log().warn({ rule: rule.id, name: rule.name, err: message }, 'a switch failed; it will be tried again');
    if (one.failures === 1)
      await this.holds.notifyFailure(rule, `the switch failed: ${message}`).catch(() => undefined);
  }

  /** Writes what checks found out. */
  private async keep(): Promise<void> {
    const ids = [...this.found];
    this.found.clear();
    try {
      await this.rules.writeChecks(ids.flatMap((id) => this.watched.get(id)?.rule ?? []));
    } catch (error) {
      for (const id of ids) this.found.add(id);
      throw error;
    }
  }
}

const isLate = ({ last, interval_s }: Checked): boolean => last !== null && last < now(-lateAfter(interval_s * 1000));

/** Whether what was decided is still to be served. */
function isWanted({ one: { rule }, target }: Waiting): boolean {
  const then = targetOf({ ...rule.config, ...rule });
  return then !== null && then.active === target.active && sameValues(then.values, target.values);
}

/** The switch of one that waits, as of now. */
function turnOf(waiting: Waiting): Turn {
  const { rule } = waiting.one;
  const { target } = waiting;
  return { rule, target, why: whyOf(rule, target, servedBy(rule)), wanted: () => isWanted(waiting) };
}

/** Why something else is to be served, in words. */
function whyOf({ checks, active }: Rule, target: Target, served: readonly string[]): string {
  const down = served.filter((value) => checks[value]?.up === false);
  if (down.length)
    return down.map((value) => `${value} is down (${checks[value]?.last_error ?? 'no answer'})`).join(', ');
  if (target.active !== active) return `${target.active} works again`;
  const back = target.values.filter((value) => !served.includes(value));
  return back.length ? `${back.join(', ')} works again` : 'a switch that was cut off';
}
