import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type Caller, Role } from '../../access/access.js';
import { Waits } from '../../changes/gate/waits.js';
import { RecordChangesRepository } from '../../changes/history/record-changes.repository.js';
import type { Plan, PlanOutcome, PlanState } from '../../changes/plans/plan.entity.js';
import type { PlanGroup } from '../../changes/plans/plan-group.entity.js';
import { PlanGroupsRepository } from '../../changes/plans/plan-groups.repository.js';
import { PlansRepository } from '../../changes/plans/plans.repository.js';
import { DomainsService } from '../../domains/domains.service.js';
import { sleep, timeMs } from '../../platform/common/clock.js';
import { withoutDeadline } from '../../platform/common/deadline.js';
import { AppError } from '../../platform/common/errors.js';
import { sideBySide } from '../../platform/common/side-by-side.js';
import { CODES } from '../../platform/common/words/codes.js';
import { type JobRun, Jobs } from '../../platform/jobs/jobs.js';
import { Makers } from '../../tokens/makers.service.js';
import { PlansService } from './plans.service.js';

const JOB = 'plans.apply';
/** ms between two looks for groups whose job has failed */
const LOOK_MS = 60_000;
/** domains of one group at once */
const APPLIES = 4;
/** ms that the list of a domain is waited for before the next one: it goes on by itself */
const PATIENCE_MS = 30_000;
/** ms that a list which was cut off is waited for, and between two looks at it */
const SETTLING_MS = 180_000;
const TICK_MS = 500;
/** of a plan that a run may still have to do with */
const LEFT: ReadonlySet<PlanState> = new Set(['open', 'applied']);

interface Payload {
  group: number;
  /** who applied it */
  user: number;
}

/**
 * Applies the plans of groups, with the rights of who applied the group, judged then. What has an end stays: a run that
 * is begun again, after a crash, goes on with the rest.
 */
@Injectable()
export class GroupRuns implements OnModuleInit {
  constructor(
    private readonly jobs: Jobs,
    private readonly groups: PlanGroupsRepository,
    private readonly plans: PlansRepository,
    private readonly changes: RecordChangesRepository,
    private readonly service: PlansService,
    private readonly domains: DomainsService,
    private readonly makers: Makers,
  ) {}

  onModuleInit(): void {
    this.jobs.handle<Payload>(JOB, {
      run: (payload, job) => withoutDeadline(() => this.run(payload, job)),
      user: ({ user }) => user,
    });
    this.jobs.schedule('plans.groups', LOOK_MS, () => this.look());
  }

  /** Begins to apply a group that was taken. @param waitMs how long it is waited for */
  async start(group: number, user: number, waitMs: number): Promise<void> {
    await this.jobs.start(JOB, { group, user } satisfies Payload, keyOf(group), waitMs);
  }

  /** The process may have died before the job was there, and a job may have failed for good. */
  private async look(): Promise<void> {
    for (const id of await this.groups.applying()) {
      const group = await this.groups.one(id);
      await this.jobs.enqueue(JOB, { group: id, user: group?.applier_id ?? 0 } satisfies Payload, keyOf(id));
    }
  }

  private async run({ group: id }: Payload, job: JobRun): Promise<null> {
    const group = await this.groups.one(id);
    if (group?.state !== 'applying') return null;
    const left = (await this.plans.ofGroup(id)).filter(({ state, outcome }) => !outcome && LEFT.has(state));
    let failure: unknown;
    await sideBySide(left, APPLIES, async (plan) => {
      job.signal.throwIfAborted();
      // one that fails by itself keeps none of the others from being applied, and is tried again with the group
      await this.once(group, plan, job).catch((error: unknown) => {
        failure ??= error;
      });
    });
    if (failure) throw failure;
    await this.groups.end(id, 'applying', 'applied');
    return null;
  }

  private async once(group: PlanGroup, plan: Plan, job: JobRun): Promise<void> {
    // of a run that was cut off
    if (plan.state === 'applied' && !(await this.isLost(plan, job))) return;
    const outcome = await this.applied(group, plan);
    if (outcome) await this.plans.tell(plan.id, outcome);
  }

  /**
   * Whether a plan whose process died has changed nothing, as the provider shows it once it cannot come late any more:
   * then it is open again. What stands at its names is compared as ever.
   */
  private async isLost({ id, change_set_id: set }: Plan, job: JobRun): Promise<boolean> {
    if (set === null) return false;
    for (const end = timeMs() + SETTLING_MS; timeMs() < end; await sleep(TICK_MS)) {
      job.signal.throwIfAborted();
      const states = new Set((await this.changes.byStateOf([set])).map(({ state }) => state));
      if (states.has('applied')) return false;
      if (!states.has('pending') && !states.has('unknown')) return (await this.plans.reopen(id, set)) > 0;
    }
    return false;
  }

  /** Applies the plan of one domain. @returns why it was not; null: it was, or waits for an approval */
  private async applied(group: PlanGroup, plan: Plan): Promise<PlanOutcome | null> {
    const maker = { maker_id: group.applier_id, maker_token_id: group.applier_token_id };
    const id = plan.domain_id;
    const right = (await this.makers.inDomains(maker, [id], 'records', 'records:write')).get(id);
    if (right === undefined || typeof right === 'string')
      return { state: 'refused', code: CODES.forbidden.code, msg: right ?? '' };
    const caller: Caller = { ip: '', userAgent: '', requestId: group.request_id, principal: right.principal };
    const how = {
      ...{ waitMs: PATIENCE_MS, comment: group.reason, whole: true, lasting: true },
      force: group.forced ? group.forced.split(',') : [],
      override: (right.principal.role >= Role.Super && group.override_reason) || undefined,
    };
    try {
      const domain = { ...(await this.domains.reload(id)), access: right.access };
      const changes = await this.plans.changes(plan.id);
      await this.service.carryOut(caller, domain, { plan, changes }, how);
      return null;
    } catch (error) {
      // what has nothing to do with this domain is tried again
      if (!(error instanceof AppError) || error.status === 503) throw error;
      return error instanceof Waits ? null : whyNot(error);
    }
  }
}

const keyOf = (group: number): string => `${JOB}|${group}`;

function whyNot({ status, code, message: msg, data }: AppError): PlanOutcome {
  const state = code === CODES.precondition.code ? 'stale' : status >= 500 ? 'failed' : 'refused';
  return { state, code, msg, data };
}
