import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HeldNames } from '../../changes/gate/held-names.js';
import { after, type Cancel, monotonicMs, now, sleep } from '../../platform/common/clock.js';
import { Logger } from '../../platform/common/logger.js';
import { isDatabaseDown } from '../../platform/database/db.js';
import { Jobs } from '../../platform/jobs/jobs.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { Traces } from '../../platform/traces/traces.js';
import { type Check, counted, UNKNOWN } from './checks/decide.js';
import { Votes } from './checks/votes.service.js';
import { FailoverRulesRepository } from './failover-rules.repository.js';
import type { Outcome } from './in-pieces.js';
import { Stale } from './judge.js';
import { LateChecks } from './late-checks.service.js';
import { checksOf, type FollowedRule, type Rule } from './rule.js';
import { RuleHolds } from './rule-holds.service.js';
import { RuleRights, type Standing } from './rule-rights.service.js';
import { type Switchable, SwitchQueue } from './switch-queue.service.js';

/** ms between two looks of a process whether there are rules to check */
const BEGIN_MS = 2000;
/** ms between two looks for changed rules, which also write the results of checks */
const FOLLOW_MS = 1000;
/** ms between two looks whether the makers of rules may still write */
const RIGHTS_MS = 5000;
/** ms in which the first checks of new rules are spread at most */
const SPREAD_MS = 10_000;

/** A rule that this process checks. */
interface Watched extends Switchable {
  /** whether it may look for a text at inner addresses: its maker is an administrator, as of the last look */
  inside: boolean;
  cancelCheck: Cancel | undefined;
  /** When the next check is due, by `monotonicMs()`; a multiple of the interval after the first one. */
  due: number;
  checking: boolean;
}

/** What the checks of a rule ask; when it changes, results of earlier checks do not count. */
const subjectOf = ({ name, config }: Rule): string => JSON.stringify([name, config.check]);

/** When the first check of a rule is due. */
const firstDue = ({ config }: Rule): number =>
  monotonicMs() + Math.random() * Math.min(config.check.interval_s * 1000, SPREAD_MS);

/**
 * Checks the targets of all rules, on one process of the installation. Each rule has a timer that keeps its step; the
 * results are in memory, and are written for all rules together.
 */
@Injectable()
export class Watch implements OnModuleInit {
  private readonly watched = new Map<number, Watched>();
  /** rules with results that are not written yet */
  private readonly found = new Set<number>();
  /** of the rules as they were read last */
  private revision = '';
  /** when the rights of makers are looked at next, in ms of `monotonicMs()` */
  private rightsAt = 0;
  private signal: AbortSignal = AbortSignal.abort();

  constructor(
    private readonly jobs: Jobs,
    private readonly rules: FailoverRulesRepository,
    private readonly votes: Votes,
    private readonly holds: RuleHolds,
    private readonly queue: SwitchQueue,
    private readonly rights: RuleRights,
    private readonly late: LateChecks,
    private readonly held: HeldNames,
    private readonly metrics: Metrics,
    private readonly traces: Traces,
    private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    this.jobs.schedule(
      'failover.check',
      BEGIN_MS,
      (signal) => this.traces.apart(() => this.run(signal)),
      () => this.late.reason(),
    );
    this.metrics.provide('zoneward_failover_rules', () => this.rules.countByState());
    this.held.provide('failover', async ({ id }) => (await this.rules.ofDomain(id)).map(({ config }) => config.host));
  }

  /** Goes on as long as there are rules to follow, and this process has the job. */
  private async run(signal: AbortSignal): Promise<void> {
    this.signal = signal;
    this.queue.start(signal, () => this.readAgain());
    this.readAgain();
    this.rightsAt = 0;
    let trouble = '';
    try {
      await this.follow();
      while (this.watched.size && !signal.aborted) {
        await sleep(FOLLOW_MS, { signal });
        if (signal.aborted) break;
        // checks go on while the database is unavailable
        const looked = this.follow()
          .then(() => this.judge())
          .then(() => this.writeFound());
        await looked.then(
          () => {
            trouble = '';
          },
          (error: Error) => {
            if (!isDatabaseDown(error) && error.message !== trouble)
              this.logger.warn({ err: error }, 'the rules of failover cannot be followed');
            trouble = error.message;
          },
        );
      }
    } finally {
      for (const one of this.watched.values()) one.cancelCheck?.();
      await this.queue.onIdle();
      if (this.watched.size) await this.writeFound().catch(() => undefined);
      this.watched.clear();
      this.found.clear();
    }
  }

  /** The next look reads all rules again. */
  private readAgain(): void {
    this.revision = '';
  }

  /** Takes over what was changed of the rules. */
  private async follow(): Promise<void> {
    const revision = await this.rules.revision();
    if (revision === this.revision) return;
    const rules = new Map((await this.rules.followed()).map((rule) => [rule.id, rule]));
    const standings = await this.rights.of([...rules.values()]);
    this.revision = revision;
    for (const [id, one] of this.watched) {
      if (rules.has(id)) continue;
      one.cancelCheck?.();
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
    if (this.rightsAt > monotonicMs()) return;
    this.rightsAt = monotonicMs() + RIGHTS_MS;
    // a rule on hold is judged only for its check, which may not go on reading a page that its maker may not read
    const all = [...this.watched.values()].filter(({ rule }) => !rule.hold || rule.config.check.expect_body !== null);
    const standings = await this.rights.of(all.map(({ rule }) => rule));
    const over = all.flatMap((one) => {
      const { ended: reason, inside } = standings.get(one.rule.id) ?? { ended: null, inside: false };
      one.inside = inside;
      return reason && !one.rule.hold && !one.switching ? [{ one, rule: one.rule, reason }] : [];
    });
    if (!over.length) return;
    const outcomes = await this.holds.holdEnded(over);
    this.readAgain();
    for (const [i, { one }] of over.entries()) {
      const held = outcomes[i] as Outcome;
      if (!(held instanceof Error)) one.rule = { ...one.rule, ...held, checks: one.rule.checks };
    }
    // a rule that was changed meanwhile is judged again with the next look
    const failure = outcomes.find((held) => held instanceof Error && !(held instanceof Stale));
    if (failure) throw failure;
  }

  private begin(rule: FollowedRule, standing: Standing | undefined): void {
    const one: Watched = {
      rule,
      inside: standing?.inside ?? false,
      due: firstDue(rule),
      cancelCheck: undefined,
      checking: false,
      switching: false,
      failures: 0,
      retryAt: 0,
      isLimitReported: false,
      alone: false,
    };
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
    one.cancelCheck?.();
    one.due = firstDue(rule);
    this.plan(one);
  }

  private plan(one: Watched): void {
    one.cancelCheck = after(Math.max(0, one.due - monotonicMs()), () => void this.check(one), { idle: true });
  }

  private async check(one: Watched): Promise<void> {
    const every = one.rule.config.check.interval_s * 1000;
    // checks that were missed while the process was stopped are left out
    one.due += every * Math.max(1, Math.ceil((monotonicMs() - one.due) / every));
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
      // the check was changed meanwhile, or another process checks
      if (this.watched.get(one.rule.id) !== one || this.signal.aborted || subject !== subjectOf(one.rule)) return;
      const at = now();
      const checks = { ...one.rule.checks };
      for (const [i, value] of values.entries()) {
        const verdict = verdicts[i] as (typeof verdicts)[0];
        checks[value] = counted(checks[value] ?? UNKNOWN, verdict, config.check as Check, at);
      }
      one.rule = { ...one.rule, checks: checksOf(one.rule.config, checks) };
      this.found.add(one.rule.id);
      this.queue.decide(one);
    } catch (error) {
      // the wait for a slot ended since another process checks
      if (!this.signal.aborted) throw error;
    } finally {
      one.checking = false;
    }
  }

  private async writeFound(): Promise<void> {
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
