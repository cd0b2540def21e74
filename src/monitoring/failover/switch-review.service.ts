import { Injectable } from '@nestjs/common';
import type { Actor } from '../../audit/audit.service.js';
import type { OpenDomain } from '../../domains/domain-policy.js';
import { Logger } from '../../platform/common/logger.js';
import { RrsetsService } from '../../records/rrsets/rrsets.service.js';
import { Foreign } from './judge.js';
import { type Rule, servedBy, waitingAs } from './rule.js';
import { RuleHolds } from './rule-holds.service.js';
import { ZoneReadings } from './zone-readings.service.js';

/** A rule that was switched, and what its set held before. */
interface Switched {
  rule: Rule;
  before: readonly string[];
}

/** Looks at record sets after they were switched. */
@Injectable()
export class SwitchReview {
  constructor(
    private readonly readings: ZoneReadings,
    private readonly rrsets: RrsetsService,
    private readonly holds: RuleHolds,
    private readonly logger: Logger,
  ) {}

  /**
   * A set may have been changed in the moment of the write, which most vendors cannot tell: foreign values in it put
   * the rule on hold, and a set that lost its last answer so gets its values back.
   * @returns the rules as they are now, in their order
   */
  async review(actor: Actor, domain: OpenDomain, list: readonly Switched[]): Promise<Rule[]> {
    const unseen = (rule: Rule, err: unknown) => {
      this.logger.warn({ rule: rule.id, name: rule.name, err }, 'what a switch has left could not be looked at');
      return rule;
    };
    const rules: Rule[] = [];
    try {
      await this.readings.refresh(domain);
      const found = await this.rrsets.values(
        domain,
        list.map(({ rule }) => rule.config),
      );
      for (const [i, one] of list.entries())
        rules.push(await this.reviewOne(actor, domain, one, found[i] ?? []).catch((err) => unseen(one.rule, err)));
      return rules;
    } catch (err) {
      return list.map(({ rule }) => unseen(rule, err));
    }
  }

  private async reviewOne(
    actor: Actor,
    domain: OpenDomain,
    { rule, before }: Switched,
    found: string[],
  ): Promise<Rule> {
    const wanted = servedBy(rule);
    // a provider may show a write a little later: old values may still be there, and new ones missing
    if (found.length && found.every((value) => wanted.includes(value) || before.includes(value))) return rule;
    const words = new Foreign(found).message;
    if (found.length) return this.holds.hold(rule, words);
    const options = { door: 'failover', comment: `rule ${rule.id}: it held nothing`, atomic: true } as const;
    const asked = { ...options, ...waitingAs(rule, domain) };
    await this.rrsets.replace(actor, domain, rule.config, asked, (values) => (values.length ? values : wanted));
    return this.holds.hold(rule, `${words}; ${wanted.join(', ')} was put back`);
  }
}
