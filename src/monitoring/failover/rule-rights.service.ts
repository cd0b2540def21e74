import { Inject, Injectable } from '@nestjs/common';
import { Role } from '../../access/access.js';
import { type Maker } from '../../access/maker.js';
import type { Config } from '../../platform/config/config.js';
import { CONFIG } from '../../platform/config/config.module.js';
import { Makers } from '../../tokens/makers.service.js';
import { FailoverRulesRepository } from './failover-rules.repository.js';
import type { Rule } from './rule.js';
import { readsInside } from './rule-config.js';

/** The right of a rule's maker. */
export interface Standing {
  /** why the rule may not write any more, in words; null: it may */
  ended: string | null;
  /** whether its checks may look for a text at inner addresses, which is for administrators */
  inside: boolean;
}

/** Whether the makers of rules may still write, as of now. */
@Injectable()
export class RuleRights {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly rules: FailoverRulesRepository,
    private readonly makers: Makers,
  ) {}

  /** By rule; each maker is judged once. A rule whose domain is gone has none. */
  async of(rules: readonly Rule[]): Promise<Map<number, Standing>> {
    const owners = await this.rules.owners(rules.flatMap((rule) => (rule.maker_id === null ? [rule.domain_id] : [])));
    const groups = new Map<string, { maker: Maker; rules: Rule[] }>();
    for (const rule of rules) {
      const maker = makerOf(rule, owners);
      const key = `${maker.maker_id} ${maker.maker_token_id}`;
      const group = groups.get(key) ?? { maker, rules: [] };
      group.rules.push(rule);
      groups.set(key, group);
    }
    const found = new Map<number, Standing>();
    for (const { maker, rules: theirs } of groups.values()) {
      const ids = [...new Set(theirs.map(({ domain_id }) => domain_id))];
      const rights = await this.makers.inDomains(maker, ids, 'write', '*');
      for (const rule of theirs) {
        const right = rights.get(rule.domain_id) as string | { principal: { role: number; username: string } };
        if (typeof right === 'string') found.set(rule.id, { ended: right, inside: false });
        else {
          const { role, username } = right.principal;
          const inside = role >= Role.Admin;
          const reads = !inside && readsInside(rule.config, this.config.outboundDeny);
          const words = `${username}, who made it, is no administrator any more, and its check reads an inner address`;
          found.set(rule.id, { ended: reads ? words : null, inside });
        }
      }
    }
    return found;
  }
}

/** The maker of a rule; for one that an earlier version has stored, the owner of its domain. */
const makerOf = ({ domain_id, maker_id, maker_token_id }: Rule, owners: ReadonlyMap<number, number | null>): Maker =>
  maker_id === null ? { maker_id: owners.get(domain_id) ?? null, maker_token_id: null } : { maker_id, maker_token_id };
