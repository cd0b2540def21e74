import type { DomainRow } from '../../domains/domain-policy.js';
import type { Health } from './checks/decide.js';
import type { FailoverRule } from './failover.entity.js';

/** A rule as it is stored. */
export type Rule = Omit<FailoverRule, 'domain'>;

/** A rule that is followed, with the owner of its domain. */
export type FollowedRule = Rule & { owner_id: number | null };

/** What is known of the values of a rule, and of no others. */
export const checksOf = ({ primary, backup }: Rule['config'], known: Rule['checks']): Record<string, Health> =>
  Object.fromEntries([...primary, ...backup].flatMap((value) => (known[value] ? [[value, known[value]]] : [])));

/** What a rule believes to be served. */
export const servedBy = ({ served, active, config }: Rule): string[] => served ?? config[active];

/** The record set of a rule, as people name it. */
export const nameOf = ({ name, config }: Rule): string => `${name} ${config.type}`;

/** In whose name the switch of a rule waits where it needs an approval, and what it is known by. */
export const waitingAs = ({ id, maker_id, maker_token_id }: Rule, { owner_id }: Pick<DomainRow, 'owner_id'>) => ({
  maker: maker_id === null ? { maker_id: owner_id, maker_token_id: null } : { maker_id, maker_token_id },
  subject: `failover|${id}`,
});
