import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { type Caller, type Principal, signedIn, writingScope } from '../../access/access.js';
import { AuditService } from '../../audit/audit.service.js';
import { overrideOf } from '../../changes/gate/closed.js';
import type { Plan } from '../../changes/plans/plan.entity.js';
import { judged } from '../../changes/plans/plan-builder.service.js';
import {
  type Decision,
  PlansRepository,
  type StoredPlanChange,
  UNDECIDED,
} from '../../changes/plans/plans.repository.js';
import { whoOf } from '../../changes/plans/waiting-plans.service.js';
import { changeRulesOf } from '../../domains/change-rules/change-rules.js';
import type { OpenDomain } from '../../domains/domain-policy.js';
import { Notices } from '../../notifications/notices.service.js';
import { now } from '../../platform/common/clock.js';
import { AppError, errors } from '../../platform/common/errors.js';
import { CODES } from '../../platform/common/words/codes.js';
import { DatabaseService } from '../../platform/database/database.service.js';
import { Db } from '../../platform/database/db.js';
import { Installation } from '../../platform/database/installation.js';
import { Leases } from '../../platform/database/leases.js';
import { Jobs } from '../../platform/jobs/jobs.js';
import { Approvers } from '../../teams/approvers.service.js';
import { Makers } from '../../tokens/makers.service.js';
import type { BatchResult } from '../batch/batch.dto.js';
import type { PlanView } from './plan.dto.js';
import { planView, stateNow } from './plan-view.js';
import { PlansService } from './plans.service.js';

/** ms that two decisions on one plan wait for each other */
const WAIT_MS = 60_000;
/** ms between two looks for approvals that were cut off */
const EVERY_MS = 15_000;
type Waiting = { plan: Plan; domain: OpenDomain; changes: StoredPlanChange[] };

/** Decides on plans that wait: with the right of who decides to see them, and of who asked to make their changes. */
@Injectable()
export class ApprovalsService implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly database: DatabaseService,
    private readonly installation: Installation,
    private readonly jobs: Jobs,
    private readonly leases: Leases,
    private readonly repository: PlansRepository,
    private readonly plans: PlansService,
    private readonly approvers: Approvers,
    private readonly makers: Makers,
    private readonly audit: AuditService,
    private readonly notices: Notices,
  ) {}

  onModuleInit(): void {
    this.jobs.schedule('plans.release', EVERY_MS, () => this.release());
  }

  /**
   * Approves a plan, which is applied in the name of who asked.
   * @param waitMs how long a long list is waited for
   * @throws AppError 403001 for who may not approve it, and where who asked may not make its changes any more, which
   * rejects it; 409001 for one that does not wait; 412001 where something else stands there, which ends it; 423002
   */
  approve(me: Caller, id: number, comment: string, waitMs: number): Promise<BatchResult & { domain_id: number }> {
    return this.leases.hold([`plan|${id}`], WAIT_MS, async () => {
      const waiting = await this.open(me, id, ['waiting', 'approved']);
      const decision = decisionOf(signedIn(me), comment);
      const override = overrideOf(me);
      const asker = await this.askerOf(me, waiting);
      if (typeof asker === 'string') throw await this.over(me, waiting, asker);
      if (!(await this.repository.decide(id, 'approved', decision, ['waiting', 'approved'])))
        throw await this.ended(id);
      try {
        const force = waiting.changes.flatMap(({ guards }) => guards);
        const stored = (changeSet: number, manager: EntityManager) =>
          this.write(manager, me, waiting, decision, 'approved', changeSet);
        const approval = { me, access: waiting.domain.access, override, stored };
        const how = { waitMs, comment: waiting.plan.comment, force, whole: true, approval };
        return await this.plans.carryOut(asker.caller, { ...waiting.domain, access: asker.access }, waiting, how);
      } catch (error) {
        if (error instanceof AppError && error.code === CODES.forbidden.code)
          throw await this.over(me, waiting, error.message);
        // a stale one has its end
        await this.repository.decide(id, 'waiting', UNDECIDED, ['approved']);
        throw error;
      }
    });
  }

  /** Lets plans wait again whose approval was cut off before anything was done: nobody holds their locks. */
  async release(): Promise<void> {
    if (!this.database.open || this.installation.halted) return;
    for (const id of await this.repository.approved(now())) {
      const once = () => this.repository.decide(id, 'waiting', UNDECIDED, ['approved']);
      await this.leases.hold([`plan|${id}`], 0, once).catch((error: unknown) => {
        // who decides is at it
        if (!(error instanceof AppError)) throw error;
      });
    }
  }

  /** Rejects a plan. @throws AppError 403001, 409001 as of `approve` */
  async reject(me: Caller, id: number, comment: string): Promise<PlanView> {
    const waiting = await this.open(me, id, ['waiting']);
    await this.rejected(me, waiting, decisionOf(signedIn(me), comment));
    return planView(me, waiting.domain, (await this.repository.one(id)) as Plan, waiting.changes);
  }

  /** A plan that waits, and that the caller may decide on. @throws AppError 403001, 404001, 409001 */
  private async open(me: Caller, id: number, states: readonly Plan['state'][]): Promise<Waiting> {
    const { plan, domain } = await this.plans.open(me, id, 'read');
    const changes = await this.repository.changes(id);
    await this.assertMayDecide(me, { plan, domain, changes });
    const state = stateNow(plan);
    if (!states.includes(state)) throw errors.conflict('plan_not_waiting', { state });
    return { plan, domain, changes };
  }

  /** @throws AppError 403001 */
  private async assertMayDecide(me: Caller, { plan, domain, changes }: Waiting): Promise<void> {
    const { approval } = changeRulesOf(domain);
    const principal = signedIn(me);
    const required = `domain:${domain.id}:approve`;
    if (!(await this.approvers.isOne(principal, approval))) throw errors.forbidden('approver_needed', {}, { required });
    if (plan.user_id === principal.userId && !approval.own) throw errors.forbidden('own_approval', {}, { required });
    if (!changes.every((change) => judged(me, domain, change).visible))
      throw errors.forbidden('plan_not_readable', {}, { required: `domain:${domain.id}:read` });
  }

  /** Who asked, with their rights of now; or why they have none any more. */
  private async askerOf(me: Caller, { plan, domain }: Waiting) {
    const maker = { maker_id: plan.user_id, maker_token_id: plan.token_id };
    const right = (await this.makers.inDomains(maker, [domain.id], 'records', writingScope(plan.door_key))).get(
      domain.id,
    );
    if (right === undefined || typeof right === 'string') return right ?? 'the domain is gone';
    const door = plan.door_key ? { door: plan.door_key } : {};
    const caller: Caller = { ip: '', userAgent: '', requestId: me.requestId, principal: right.principal, ...door };
    return { caller, access: right.access };
  }

  /** Who asked may not any more: the plan has its end. @returns what the approver is told */
  private async over(me: Caller, waiting: Waiting, why: string): Promise<AppError> {
    await this.rejected(me, waiting, decisionOf(signedIn(me), why.slice(0, 255)));
    return errors.forbidden('asker_may_not', { why }, { required: `domain:${waiting.domain.id}:write` });
  }

  private async rejected(me: Caller, waiting: Waiting, decision: Decision): Promise<void> {
    const { id } = waiting.plan;
    const from = ['waiting', 'approved'] as const;
    const done = await this.db.transaction(async (manager) => {
      if (!(await this.repository.decide(id, 'rejected', decision, from, manager))) return false;
      await this.write(manager, me, waiting, decision, 'rejected', null);
      return true;
    });
    if (!done) throw await this.ended(id);
  }

  private async ended(id: number): Promise<AppError> {
    const plan = await this.repository.one(id);
    return plan ? errors.conflict('plan_not_waiting', { state: stateNow(plan) }) : errors.notFound('plan');
  }

  /** The audit entry of a decision, and the notice of it for who asked. */
  private async write(
    manager: EntityManager,
    me: Caller,
    { plan, domain }: Waiting,
    { decision: comment }: Decision,
    what: 'approved' | 'rejected',
    changeSet: number | null,
  ): Promise<void> {
    const asked = { user_id: plan.user_id, username: plan.username, token_id: plan.token_id };
    await this.audit.write(manager, me, {
      action: what === 'approved' ? 'changes.approve' : 'changes.reject',
      domain,
      target: { type: 'plan', id: plan.id, name: domain.name },
      after: { comment, asked_by: asked },
      ...(changeSet !== null && { changeSet }),
    });
    const { username } = signedIn(me);
    const words = comment ? `: ${comment}` : '';
    await this.notices.tell(manager, {
      event: 'plan.decided',
      text: `plan ${plan.id} of ${domain.name}, asked for by ${whoOf(plan)}, was ${what} by ${username}${words}`,
      domain: domain.name,
      details: { plan_id: plan.id, state: what, username: plan.username, change_set: changeSet },
    });
  }
}

const decisionOf = ({ userId, username }: Principal, decision: string): Decision => ({
  ...{ decider_id: userId, decider: username, decided_at: now(), decision },
});
