import type { GroupState } from '../../changes/plans/plan-group.entity.js';
import { BatchCounts } from '../batch/batch.dto.js';
import { PlanMaker, PlanSummary, PlanView } from './plan.dto.js';

export const OUTCOMES = ['applied', 'running', 'waiting', 'stale', 'failed', 'refused', 'not_tried'] as const;

class LeftOutView {
  domain_id!: number;
  domain!: string;
  code!: number;
  /** why no plan could be made of it: nothing of it is applied */
  msg!: string;
}

export class DomainOutcome {
  domain_id!: number;
  domain!: string;
  plan_id!: number;
  /**
   * `running`: its list of changes goes on, or the provider is asked what became of it; `waiting`: for an approval;
   * `refused`: by a right, a guard or a freeze; `failed`: by its provider, or some of its changes were; `not_tried`:
   * not yet
   */
  state!: (typeof OUTCOMES)[number];
  change_set_id!: number | null;
  /** its changes by what became of them; those that go on are in none */
  counts?: BatchCounts;
  code?: number;
  msg?: string;
  /** as in the answer to a plan of this domain alone, such as `differences` of a stale one */
  data?: object;
}

/** How many domains came to which end. */
export class OutcomeCounts {
  applied!: number;
  running!: number;
  waiting!: number;
  stale!: number;
  failed!: number;
  refused!: number;
  not_tried!: number;
}

/** What became of a plan over many domains, as far as the caller may read them. */
export class PlanGroupResult {
  domains!: DomainOutcome[];
  counts!: OutcomeCounts;
}

/** A plan over many domains: one plan for each, as far as the caller may read it. */
export class PlanGroupView {
  /** null: it is not stored, since there is nothing to do */
  id!: number | null;
  /** `applying`: domain by domain */
  state!: Exclude<GroupState, 'making'> | 'expired';
  comment!: string;
  created_at!: string;
  expires_at!: string;
  created_by!: PlanMaker;
  applied_at!: string | null;
  summary!: PlanSummary;
  /** those with changes are plans of their own, too: `GET /api/plans/:id` */
  plans!: PlanView[];
  /** how many more domains it has, which the caller may not read */
  hidden_domains!: number;
  /** domains of which no plan could be made */
  failed!: LeftOutView[];
  /** what became of each domain; null: nobody has applied it */
  domains!: DomainOutcome[] | null;
  counts!: OutcomeCounts | null;
}
