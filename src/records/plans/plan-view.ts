import { type Caller, signedIn } from '../../access/access.js';
import { told, type Way } from '../../changes/gate/guards.js';
import { readsAll } from '../../changes/history/who.js';
import type { Plan, PlanState } from '../../changes/plans/plan.entity.js';
import { type Draft, judged } from '../../changes/plans/plan-builder.service.js';
import { type NewPlan, type StoredPlanChange, UNDECIDED } from '../../changes/plans/plans.repository.js';
import { LIFE_MS } from '../../changes/plans/waiting-plans.service.js';
import { changeRulesOf } from '../../domains/change-rules/change-rules.js';
import type { OpenDomain } from '../../domains/domain-policy.js';
import { shownName } from '../../domains/zone-identity.js';
import { now, timeMs } from '../../platform/common/clock.js';
import { sha256 } from '../../platform/common/hash.js';
import { ownWords, shownState } from '../history/shown-state.js';
import type { PlanChangeView, PlanView } from './plan.dto.js';

const ALIVE: ReadonlySet<PlanState> = new Set(['open', 'waiting', 'approved']);

/** A plan that nobody has applied by its end has expired. */
export const stateNow = ({ state, expires_at }: Pick<Plan, 'state' | 'expires_at'>): PlanState =>
  ALIVE.has(state) && Date.parse(expires_at) <= timeMs() ? 'expired' : state;

/** Of a plan all but its changes, as somebody may see it. */
export function headOf(me: Caller, domain: OpenDomain, plan: NewPlan) {
  const hides = !readsAll(me, domain);
  const { door, door_key, group_id, created_at, expires_at, decided_at, change_set_id, decider } = plan;
  const { user_id, username, token_id, token_name } = plan;
  const created_by = { user_id, username, token_id, token_name };
  const decided_by = decider === null ? null : { user_id: plan.decider_id, username: decider };
  // words may name records that rules hide
  const comment = hides && ownWords(door) ? '' : plan.comment;
  const decision = hides && plan.decision ? '' : plan.decision;
  const at = { created_at, expires_at, created_by, decided_by, decided_at, decision };
  return { domain_id: domain.id, group_id, state: stateNow(plan), door, door_key, comment, ...at, change_set_id };
}

/** What is stored of a plan that was worked out. */
export function planRow(
  me: Caller,
  domain: OpenDomain,
  draft: Omit<Draft, 'planned'>,
  comment = '',
  door: Plan['door'] = 'plan',
): NewPlan {
  const { userId, username, token } = signedIn(me);
  const { version, unchanged, warnings, changes } = draft;
  return {
    ...{ domain_id: domain.id, state: 'open' as const, comment, version, unchanged },
    ...{ base: sha256(changes.map(({ base }) => base).join('\n')), warnings: warnings.join('\n') },
    ...{ user_id: userId, username, token_id: token?.id ?? null, token_name: token?.name ?? null },
    ...{ ...UNDECIDED, door, door_key: null, wish: null, subject: null },
    ...{ group_id: null, change_set_id: null, created_at: now(), expires_at: now(LIFE_MS) },
  };
}

/** Changes that were worked out, with their ids within the plan. */
export const numbered = ({ changes }: Pick<Draft, 'changes'>): StoredPlanChange[] =>
  changes.map((change, i) => ({ ...change, position: i + 1 }));

/** A plan as a caller may see it: of changes of records that they may not read it has the number. */
export function planView(
  me: Caller,
  domain: OpenDomain,
  plan: NewPlan & { id: number | null },
  changes: readonly StoredPlanChange[],
  way: Way = 'plan',
): PlanView {
  const summary = { create: 0, update: 0, delete: 0, unchanged: plan.unchanged };
  const seen: StoredPlanChange[] = [];
  const views: PlanChangeView[] = [];
  for (const change of changes) {
    const { op, position: id, recordId: record_id, before, after } = change;
    const { visible, denied } = judged(me, domain, change);
    summary[op]++;
    const shown = after ?? before;
    if (!visible || !shown) continue;
    seen.push(change);
    const { host, type } = shown;
    const states = { before: before && shownState(before), after: after && shownState(after) };
    views.push({
      id,
      op,
      record_id,
      host,
      type,
      ...states,
      allowed: !denied,
      ...(denied && { reason: denied.reason }),
    });
  }
  return {
    ...{ id: plan.id, domain: shownName(domain), ...headOf(me, domain, plan), summary },
    // it is over records that rules may hide, too, and could be guessed
    base: readsAll(me, domain) ? plan.base : '',
    ...{
      changes: views,
      hidden: changes.length - views.length,
      guards: told(seen, changeRulesOf(domain), way, domain),
    },
    warnings: warningsFor(me, domain, plan.warnings),
  };
}

/** How a warning about a document begins: who gave it may know what is in it. */
export const LINE = 'Line';

/** A warning that names nothing. */
export const IGNORED = 'Records that the domain ignores (drift.ignore) are left as they are';

/** Warnings name records, of which a token may read just some. */
function warningsFor(me: Caller, domain: OpenDomain, warnings: string): string[] {
  if (!warnings) return [];
  const all = warnings.split('\n');
  if (readsAll(me, domain) || all.every((words) => words === IGNORED || words.startsWith(`${LINE} `))) return all;
  return ['Some records were changed since, and stay as they are'];
}
