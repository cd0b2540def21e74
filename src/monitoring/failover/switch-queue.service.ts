import { Injectable } from '@nestjs/common';
import { monotonicMs, now } from '../../platform/common/clock.js';
import { actingLater } from '../../platform/common/deadline.js';
import { AppError } from '../../platform/common/errors.js';
import { FairPool } from '../../platform/common/fair-pool.js';
import { Logger } from '../../platform/common/logger.js';
import { Traces } from '../../platform/traces/traces.js';
import { inMaintenance, isReturn, limitedUntil, sameValues, type Target, targetOf } from './checks/decide.js';
import type { Outcome } from './in-pieces.js';
import { Stale } from './judge.js';
import { MassSwitch, type Turn } from './mass-switch.service.js';
import { type FollowedRule, type Rule, servedBy } from './rule.js';
import { RuleHolds } from './rule-holds.service.js';

/** ms until a switch that failed is tried again, doubled each time, up to the longest */
const RETRY_MS = 5000;
const MAX_RETRY_MS = 300_000;

/** A rule that this process switches when its checks say so. */
export interface Switchable {
  rule: FollowedRule;
  switching: boolean;
  /** tries in a row that failed, and when the next one may begin, in ms of `monotonicMs()` */
  failures: number;
  retryAt: number;
  /** it was reported that the rule switches too often */
  isLimitReported: boolean;
  /**
   * it is switched by itself: its last switch, with others of the domain, failed with a conflict, maybe of another rule
   */
  alone: boolean;
}

/** A rule that waits for its switch. */
interface Waiting {
  one: Switchable;
  target: Target;
}

/** Decides what is switched, and queues the switches of each domain. */
@Injectable()
export class SwitchQueue {
  private readonly pool = new FairPool('failover switches');
  /** by domain: a switch that begins takes along all others that may go together */
  private readonly waiting = new Map<number, Waiting[]>();
  private signal: AbortSignal = AbortSignal.abort();
  private rulesChanged: () => void = () => undefined;

  constructor(
    private readonly mass: MassSwitch,
    private readonly holds: RuleHolds,
    private readonly traces: Traces,
    private readonly logger: Logger,
  ) {}

  /**
   * Begins to switch.
   * @param signal aborted when another process is to switch
   * @param rulesChanged called when rules have to be read again
   */
  start(signal: AbortSignal, rulesChanged: () => void): void {
    this.signal = signal;
    this.rulesChanged = rulesChanged;
  }

  onIdle(): Promise<void> {
    return this.pool.onIdle();
  }

  /** Queues the switch of a rule, if its checks want one and it may switch now. */
  decide(one: Switchable): void {
    const { rule } = one;
    const { config } = rule;
    const target = targetOf({ ...config, ...rule });
    const served = servedBy(rule);
    if (!target || (rule.intended === null && sameValues(target.values, served))) {
      if (one.failures || rule.failure !== null) {
        one.rule = { ...rule, failure: null };
        void this.holds.failed(rule, null).catch(() => undefined);
      }
      one.failures = 0;
      one.isLimitReported = false;
      return;
    }
    if (rule.hold || one.switching || one.retryAt > monotonicMs() || inMaintenance(config, now())) return;
    const until = isReturn(served, rule.checks) && limitedUntil(rule.recent, config.max_switches_per_hour);
    if (until) {
      this.reportLimit(one, until);
      return;
    }
    one.switching = true;
    const { domain_id: domain } = rule;
    this.waiting.set(domain, [...(this.waiting.get(domain) ?? []), { one, target }]);
    void this.pool.run({ user: rule.owner_id, target: domain }, () => this.switch(domain));
  }

  private reportLimit(one: Switchable, until: string): void {
    if (one.isLimitReported) return;
    one.isLimitReported = true;
    const { rule } = one;
    const most = rule.config.max_switches_per_hour;
    const words = `it has switched ${most} times within an hour, and brings nothing back until ${until}`;
    this.logger.warn({ rule: rule.id, name: rule.name }, words);
    void this.holds.notifyFailure(rule, words).catch(() => undefined);
  }

  /** Switches rules that wait in a domain: all that may go together, or one; none where another call has taken them. */
  private async switch(domainId: number): Promise<void> {
    const some = await this.taken(domainId);
    try {
      // checks have gone on while they waited for a slot, and go on while they wait for the provider
      const going = some.filter((waiting) => !this.signal.aborted && isWanted(waiting));
      const [first, ...more] = going.map((waiting) => ({ waiting, ...turnOf(waiting) }));
      if (!first) return;
      const outcomes = await this.traces.span('failover switch', { place: 'root' }, () =>
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
      this.logger.info({ rule: rule.id, name: rule.name, ...target, hold: outcome.hold }, why);
      return;
    }
    this.rulesChanged();
    if (outcome instanceof Stale) return;
    one.retryAt = monotonicMs() + Math.min(RETRY_MS * 2 ** one.failures, MAX_RETRY_MS);
    one.failures++;
    one.alone = wasOneOfMany && outcome instanceof AppError && outcome.status === 409;
    const { message } = outcome;
    this.logger.warn({ rule: rule.id, name: rule.name, err: message }, 'a switch failed; it will be tried again');
    await this.holds.failed(rule, message).catch(() => undefined);
    if (one.failures === 1)
      await this.holds.notifyFailure(rule, `the switch failed: ${message}`).catch(() => undefined);
  }
}

/** Whether the target that was decided is still to be served. */
function isWanted({ one: { rule }, target }: Waiting): boolean {
  const current = targetOf({ ...rule.config, ...rule });
  return current !== null && current.active === target.active && sameValues(current.values, target.values);
}

/** The switch of a rule that waits, as of now. */
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
