import { type Caller, signedIn } from '../../access/access.js';
import type { ChangeState } from '../../changes/history/change-set.entity.js';
import { readsAll } from '../../changes/history/who.js';
import type { Plan } from '../../changes/plans/plan.entity.js';
import type { PlanGroup } from '../../changes/plans/plan-group.entity.js';
import { UNAPPLIED } from '../../changes/plans/plan-groups.repository.js';
import { LIFE_MS } from '../../changes/plans/waiting-plans.service.js';
import type { OpenDomain } from '../../domains/domain-policy.js';
import { shownName } from '../../domains/zone-identity.js';
import { now, timeMs } from '../../platform/common/clock.js';
import { type DomainOutcome, OUTCOMES, type OutcomeCounts, type PlanGroupView } from './group.dto.js';
import type { PlanView } from './plan.dto.js';

/** Changes of change sets by their states. */
export type StatesOf = ReadonlyMap<number, Readonly<Partial<Record<ChangeState, number>>>>;

/** A group that is not stored yet. */
export function groupRow(me: Caller, comment: string): Omit<PlanGroup, 'id'> {
  const { userId, username, token } = signedIn(me);
  return {
    ...{ state: 'making', comment, failed: [], ...UNAPPLIED },
    ...{ user_id: userId, username, token_id: token?.id ?? null, token_name: token?.name ?? null },
    ...{ created_at: now(), expires_at: now(LIFE_MS) },
  };
}

/** One that nobody has applied by its end has expired. */
export const groupState = ({ state, expires_at }: Pick<PlanGroup, 'state' | 'expires_at'>): PlanGroupView['state'] =>
  state === 'open' || state === 'making' ? (Date.parse(expires_at) <= timeMs() ? 'expired' : 'open') : state;

/** What became of one domain of a group that is, or was, applied. */
export function outcomeOf(me: Caller, domain: OpenDomain, plan: Plan, states: StatesOf): DomainOutcome {
  const { change_set_id, outcome } = plan;
  const own = { domain_id: domain.id, domain: shownName(domain), plan_id: plan.id, change_set_id };
  const known = change_set_id === null ? undefined : states.get(change_set_id);
  if (known) {
    const { applied = 0, failed = 0, unknown = 0, not_tried = 0, pending = 0 } = known;
    return {
      ...{ ...own, state: pending + unknown ? 'running' : failed + not_tried ? 'failed' : 'applied' },
      counts: { applied, failed, unknown, not_tried },
    };
  }
  if (plan.state === 'applied') return { ...own, state: 'applied' };
  if (plan.state === 'waiting' || plan.state === 'approved') return { ...own, state: 'waiting' };
  if (!outcome) return { ...own, state: plan.state === 'open' ? 'not_tried' : 'refused' };
  const { state, code, msg, data } = outcome;
  // they are what who applied it was answered, and may name records that rules hide
  if (!readsAll(me, domain)) return { ...own, state, code };
  return { ...own, state, code, msg, ...(data !== undefined && { data: data as object }) };
}

export function countsOf(domains: readonly DomainOutcome[]): OutcomeCounts {
  const counts = Object.fromEntries(OUTCOMES.map((state) => [state, 0])) as unknown as OutcomeCounts;
  for (const { state } of domains) counts[state]++;
  return counts;
}

/** @param domains what became of each; null: nobody has applied it */
export function groupView(
  group: Omit<PlanGroup, 'id'> & { id: number | null },
  plans: PlanView[],
  hidden: number,
  domains: DomainOutcome[] | null,
): PlanGroupView {
  const { id, comment, created_at, expires_at, applied_at, failed } = group;
  const { user_id, username, token_id, token_name } = group;
  const summary = { create: 0, update: 0, delete: 0, unchanged: 0 };
  for (const plan of plans)
    for (const key of Object.keys(summary) as (keyof typeof summary)[]) summary[key] += plan.summary[key];
  return {
    ...{ id, state: groupState(group), comment, created_at, expires_at, applied_at },
    ...{ created_by: { user_id, username, token_id, token_name }, summary, plans, hidden_domains: hidden, failed },
    ...{ domains, counts: domains && countsOf(domains) },
  };
}
