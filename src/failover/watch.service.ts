import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { now } from '../common/clock.js';
import { log } from '../common/logger.js';
import { Shares } from '../common/shares.js';
import { isDatabaseDown } from '../database/db.js';
import { Jobs } from '../jobs/jobs.js';
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
import { checksOf, type Rule, RuleStore, servedBy } from './rule-store.js';
import { Stale, Switcher } from './switcher.service.js';
import { Votes } from './votes.service.js';

/**
 * ms until a process finds that there is something to check, and between two looks at what was changed, when what was
 * found out is written
 */
const BEGIN_MS = 2000;
const FOLLOW_MS = 1000;
/** ms in which the first checks of new rules are spread at most */
const SPREAD_MS = 10_000;
/** ms until a switch that failed is tried again, doubled each time, up to the longest */
const RETRY_MS = 5000;
const MAX_RETRY_MS = 300_000;
/** switches under way at once, most of which wait for a provider, and of one domain */
const PARALLEL = 200;
const PARALLEL_OF_ONE = 4;

/** A rule that this process checks. */
interface Watched {
  rule: Rule;
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
  private readonly shares = new Shares(PARALLEL_OF_ONE, PARALLEL);
  private mark = '';
  private signal: AbortSignal = AbortSignal.abort();

  constructor(
    private readonly jobs: Jobs,
    private readonly store: RuleStore,
    private readonly votes: Votes,
    private readonly switcher: Switcher,
  ) {}

  onModuleInit(): void {
    this.jobs.schedule('failover.check', BEGIN_MS, (signal) => apart(() => this.run(signal)));
  }

  /** Goes on as long as there are rules to follow, and this process has the job. */
  private async run(signal: AbortSignal): Promise<void> {
    this.signal = signal;
    this.mark = '';
    let trouble = '';
    try {
      await this.follow();
      while (this.watched.size && !signal.aborted) {
        await pause(FOLLOW_MS, undefined, { signal }).catch(() => undefined);
        if (signal.aborted) break;
        // a database that is away for a while stops no check
        const looked = this.follow().then(() => this.keep());
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
      await this.shares.onIdle();
      if (this.watched.size) await this.keep().catch(() => undefined);
      this.watched.clear();
      this.found.clear();
    }
  }

  /** Takes over what was changed of the rules. */
  private async follow(): Promise<void> {
    const mark = await this.store.mark();
    if (mark === this.mark) return;
    const rules = new Map((await this.store.followed()).map((rule) => [rule.id, rule]));
    this.mark = mark;
    for (const [id, one] of this.watched) {
      if (rules.has(id)) continue;
      clearTimeout(one.timer);
      this.watched.delete(id);
      this.found.delete(id);
    }
    for (const rule of rules.values()) {
      const known = this.watched.get(rule.id);
      if (!known) this.begin(rule);
      else if (known.rule.version < rule.version) this.renew(known, rule);
    }
  }

  private begin(rule: Rule): void {
    const spread = Math.min(rule.config.check.interval_s * 1000, SPREAD_MS);
    const due = performance.now() + Math.random() * spread;
    const idle = { timer: undefined, checking: false, switching: false, failures: 0, retryAt: 0, limitTold: false };
    const one: Watched = { rule, due, ...idle };
    this.watched.set(rule.id, one);
    this.plan(one);
  }

  private renew(one: Watched, rule: Rule): void {
    const before = one.rule;
    const same = subjectOf(before) === subjectOf(rule);
    const checks = same ? checksOf(rule.config, { ...rule.checks, ...before.checks }) : rule.checks;
    one.rule = { ...rule, checks };
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
    const { name, config } = one.rule;
    const subject = subjectOf(one.rule);
    try {
      const values = [...config.primary, ...config.backup];
      const verdicts = await Promise.all(
        values.map((value) => this.votes.of({ value, name, check: config.check }, one.rule.domain_id)),
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
      void this.switcher.failed(rule, words).catch(() => undefined);
      return;
    }
    one.switching = true;
    void this.shares
      .add(rule.domain_id, () => this.switch(one, target))
      .finally(() => {
        one.switching = false;
      });
  }

  private async switch(one: Watched, target: Target): Promise<void> {
    // checks go on while it waits for its turn, and for the provider
    const wanted = () => {
      const then = targetOf({ ...one.rule.config, ...one.rule });
      return then !== null && then.active === target.active && sameValues(then.values, target.values);
    };
    if (this.signal.aborted || !wanted()) return;
    const { rule } = one;
    const why = whyOf(rule, target, servedBy(rule));
    try {
      const after = await traced('failover switch', { place: 'root' }, () =>
        this.switcher.byItself(rule, target, why, wanted),
      );
      one.failures = 0;
      // checks have gone on meanwhile
      if (after.version > one.rule.version) one.rule = { ...after, checks: one.rule.checks };
      log().info({ rule: rule.id, name: rule.name, ...target, hold: after.hold }, why);
    } catch (error) {
      // what is stored by now comes with the next look
      this.mark = '';
      if (error instanceof Stale) return;
      one.retryAt = performance.now() + Math.min(RETRY_MS * 2 ** one.failures, MAX_RETRY_MS);
      one.failures++;
      const { message } = error as Error;
      log().warn({ rule: rule.id, name: rule.name, err: message }, 'a switch failed; it will be tried again');
      if (one.failures === 1) await this.switcher.failed(rule, `the switch failed: ${message}`).catch(() => undefined);
    }
  }

  /** Writes what checks found out. */
  private async keep(): Promise<void> {
    const ids = [...this.found];
    this.found.clear();
    try {
      await this.store.keep(ids.flatMap((id) => this.watched.get(id)?.rule ?? []));
    } catch (error) {
      for (const id of ids) this.found.add(id);
      throw error;
    }
  }
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
