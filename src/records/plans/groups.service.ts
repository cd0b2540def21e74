import { Injectable } from '@nestjs/common';
import { type Caller, signedIn } from '../../access/access.js';
import { overrideOf } from '../../changes/gate/closed.js';
import { told } from '../../changes/gate/guards.js';
import { RecordChangesRepository } from '../../changes/history/record-changes.repository.js';
import { readsAll } from '../../changes/history/who.js';
import type { Plan } from '../../changes/plans/plan.entity.js';
import { type Draft, PlanBuilder, type Wish } from '../../changes/plans/plan-builder.service.js';
import type { LeftOut, PlanGroup } from '../../changes/plans/plan-group.entity.js';
import { PlanGroupsRepository } from '../../changes/plans/plan-groups.repository.js';
import { PlansRepository } from '../../changes/plans/plans.repository.js';
import { changeRulesOf } from '../../domains/change-rules/change-rules.js';
import { DomainPolicy, type OpenDomain } from '../../domains/domain-policy.js';
import { shownName } from '../../domains/zone-identity.js';
import { now } from '../../platform/common/clock.js';
import { AppError, errors } from '../../platform/common/errors.js';
import { sideBySide } from '../../platform/common/side-by-side.js';
import { CODES } from '../../platform/common/words/codes.js';
import { say } from '../../platform/common/words/field-text.js';
import { Db } from '../../platform/database/db.js';
import type { PlanGroupResult, PlanGroupView } from './group.dto.js';
import { GroupRuns } from './group-runs.service.js';
import { countsOf, groupRow, groupState, groupView, outcomeOf } from './group-view.js';
import { type ApplyInput, MAX_LIST } from './plan.dto.js';
import { PlanStore } from './plan-store.service.js';
import { numbered, planRow, planView } from './plan-view.js';
import { assertAllowed } from './plans.service.js';

/** zones that are read at once for one plan */
const READS = 8;
/** change sets that are counted at once */
const SOME = 200;

type Zone = Awaited<ReturnType<PlanBuilder['read']>>;
/** What is asked of one domain. */
export interface Asked {
  domain: OpenDomain;
  /** Why the caller may not write there. */
  error?: AppError | undefined;
  wish: (zone: Zone) => Promise<Wish>;
}
interface Drafted {
  domain: OpenDomain;
  draft: Draft;
}

/** Plans over many domains: a group of plans, each of which is worked out and applied as one of its domain alone. */
@Injectable()
export class PlanGroups {
  constructor(
    private readonly db: Db,
    private readonly store: PlanStore,
    private readonly groups: PlanGroupsRepository,
    private readonly plans: PlansRepository,
    private readonly changes: RecordChangesRepository,
    private readonly builder: PlanBuilder,
    private readonly policy: DomainPolicy,
    private readonly runs: GroupRuns,
  ) {}

  /**
   * @param refused what a domain is refused for that no provider says: it is thrown; null: it stands in `failed`
   * @throws AppError 400001 where there are too many changes; 409001 and 429001 of `PlanStore.admit`; that of the first
   * domain, where none can be planned
   */
  async create(
    me: Caller,
    asked: readonly Asked[],
    comment: string,
    refused: ((error: AppError, i: number) => AppError) | null,
  ): Promise<PlanGroupView> {
    const drafts: (Drafted | { domain: OpenDomain; error: AppError })[] = [];
    let count = 0;
    await sideBySide(asked, READS, async ({ domain, error: denied, wish }, i) => {
      try {
        if (denied) throw denied;
        const zone = await this.builder.read(me, domain);
        const draft = await this.builder.build(me, zone, await wish(zone));
        count += draft.changes.length;
        drafts[i] = { domain: zone.domain, draft };
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        if (refused && error.code === CODES.validation.code) throw refused(error, i);
        drafts[i] = { domain, error };
      }
      if (count > MAX_LIST)
        throw errors.field('changes', say('are more than {max} in one plan: {count}', { max: MAX_LIST, count }));
    });
    const [first] = drafts;
    if (first && 'error' in first && drafts.every((one) => 'error' in one)) throw first.error;
    const made = drafts.filter((one) => 'draft' in one);
    await this.store.admit(
      me,
      made.map(({ draft }) => draft),
    );
    const failed = drafts.flatMap((one) => ('error' in one ? leftOut(one.domain, one.error) : []));
    return this.stored(me, made, failed, comment);
  }

  /** A group, unless the id is that of a plan, or of nothing. */
  find(id: number): Promise<PlanGroup | undefined> {
    return this.groups.one(id);
  }

  /** @throws AppError 404001 where the caller may read none of its domains, and has not made it */
  async get(me: Caller, group: PlanGroup): Promise<PlanGroupView> {
    const { seen, hidden } = await this.seen(me, group);
    const plans = [];
    for (const { plan, domain } of seen) plans.push(planView(me, domain, plan, await this.plans.changes(plan.id)));
    const failed: LeftOut[] = [];
    for (const one of group.failed) {
      const domain = await this.readable(me, one.domain_id);
      // words may name records that rules hide
      if (domain) failed.push(readsAll(me, domain) ? one : { ...one, msg: '' });
    }
    const domains = isApplied(group) ? await this.outcomes(me, seen) : null;
    return groupView({ ...group, failed }, plans, hidden, domains);
  }

  /** Discards all of its plans. @throws AppError 403001, 404001; 409001 for one that has an end, or is being applied */
  async discard(me: Caller, group: PlanGroup): Promise<void> {
    const { seen, hidden } = await this.seen(me, group);
    assertOpen(group);
    // who asked may take that back, whatever they may do by now
    if (!isOwn(me, group)) {
      if (hidden) throw errors.forbidden('rest_not_yours', {}, { required: 'records:write' });
      for (const { plan } of seen) {
        const domain = await this.policy.open(signedIn(me), plan.domain_id, 'records');
        assertAllowed(me, domain, await this.plans.changes(plan.id));
      }
    }
    await this.db.transaction(async (manager) => {
      if (!(await this.groups.end(group.id, 'open', 'discarded', manager))) throw await this.ended(group.id);
      await this.plans.discardGroup(group.id, manager);
    });
  }

  /**
   * Applies the plans of a group, domain by domain. Rights and guards of all of them are judged before.
   * @param waitMs how long it is waited for
   * @throws AppError 400001, 403001, 404001; 409001 for one that has an end, or is being applied; 409003; nothing is
   * done then
   */
  async apply(me: Caller, group: PlanGroup, input: ApplyInput, waitMs: number): Promise<PlanGroupResult> {
    if (input.only) throw errors.field('only', 'does not go with a plan over many domains', 'conflict');
    const { seen, hidden } = await this.seen(me, group);
    assertOpen(group);
    if (hidden) throw errors.forbidden('rest_not_yours', {}, { required: 'records:write' });
    await this.assertMayApply(
      me,
      seen.map(({ plan }) => plan),
      input.force ?? [],
    );
    const { userId, token } = signedIn(me);
    const applier = {
      ...{ applier_id: userId, applier_token_id: token?.id ?? null, request_id: me.requestId },
      ...{ forced: (input.force ?? []).join(','), reason: input.comment ?? group.comment },
      ...{ override_reason: overrideOf(me) ?? null, applied_at: now() },
    };
    if (!(await this.db.transaction((manager) => this.groups.begin(group.id, applier, manager))))
      throw await this.ended(group.id);
    await this.runs.start(group.id, userId, waitMs);
    const domains = await this.outcomes(me, (await this.seen(me, group)).seen);
    return { domains, counts: countsOf(domains) };
  }

  /** @throws AppError 403001, 409003 */
  private async assertMayApply(me: Caller, plans: readonly Plan[], force: readonly string[]): Promise<void> {
    const guards: object[] = [];
    const keys = new Set<string>();
    for (const plan of plans) {
      const domain = await this.policy.open(signedIn(me), plan.domain_id, 'records');
      if (plan.state !== 'open') continue;
      const changes = await this.plans.changes(plan.id);
      assertAllowed(me, domain, changes);
      for (const one of told(changes, changeRulesOf(domain), 'plan', domain)) {
        if (one.mode !== 'force' || force.includes(one.key)) continue;
        keys.add(one.key);
        guards.push({ ...one, domain_id: domain.id, domain: shownName(domain), plan_id: plan.id });
      }
    }
    if (guards.length) throw errors.guarded('guards_not_named', { guards: [...keys].join(', ') }, { guards });
  }

  private async stored(
    me: Caller,
    drafts: readonly Drafted[],
    failed: readonly LeftOut[],
    comment: string,
  ): Promise<PlanGroupView> {
    const rows = drafts.map(({ domain, draft }) => ({ domain, draft, row: planRow(me, domain, draft, comment) }));
    const some = rows.filter(({ draft }) => draft.changes.length);
    const row = groupRow(me, comment);
    const [first] = some;
    const id = first
      ? await this.db.transaction(async (manager) => {
          const own = await this.plans.reserve(first.row, manager);
          await this.groups.insert({ ...row, id: own }, manager);
          return own;
        })
      : null;
    const views = [];
    for (const { domain, draft, row: plan } of rows) {
      const member = { ...plan, group_id: id };
      const planId = await this.store.insert(member, draft.changes);
      views.push(planView(me, domain, { ...member, id: planId }, numbered(draft)));
    }
    if (id !== null) await this.groups.open(id, failed);
    return groupView({ ...row, id, state: 'open', failed: [...failed] }, views, 0, null);
  }

  /** The plans of a group whose domains the caller may read. @throws AppError 404001 */
  private async seen(me: Caller, group: PlanGroup) {
    const seen: { plan: Plan; domain: OpenDomain }[] = [];
    const plans = await this.plans.ofGroup(group.id);
    for (const plan of plans) {
      const domain = await this.readable(me, plan.domain_id);
      if (domain) seen.push({ plan, domain });
    }
    if (!seen.length && !isOwn(me, group)) throw errors.notFound('plan');
    return { seen, hidden: plans.length - seen.length };
  }

  private async readable(me: Caller, id: number): Promise<OpenDomain | null> {
    const domain = await this.policy.look(signedIn(me), id);
    return domain && this.policy.judgeDomain(signedIn(me), id, domain, 'read').allowed ? domain : null;
  }

  private async outcomes(me: Caller, seen: readonly { plan: Plan; domain: OpenDomain }[]) {
    const sets = seen.flatMap(({ plan }) => plan.change_set_id ?? []);
    const states = new Map<number, Record<string, number>>();
    for (let i = 0; i < sets.length; i += SOME)
      for (const { change_set_id: set, state, n } of await this.changes.byStateOf(sets.slice(i, i + SOME)))
        states.set(set, { ...states.get(set), [state]: Number(n) });
    return seen.map(({ plan, domain }) => outcomeOf(me, domain, plan, states));
  }

  private async ended(id: number): Promise<AppError> {
    const group = await this.groups.one(id);
    return group ? errors.conflict('plan_ended', { state: groupState(group) }) : errors.notFound('plan');
  }
}

const isApplied = ({ state }: PlanGroup): boolean => state === 'applying' || state === 'applied';

/** @throws AppError 409001 */
function assertOpen(group: PlanGroup): void {
  const state = groupState(group);
  if (state !== 'open') throw errors.conflict('plan_ended', { state });
}

/** Whether a caller has made it, by the same token. */
function isOwn(me: Caller, { user_id, token_id }: PlanGroup): boolean {
  const { userId, token } = signedIn(me);
  return user_id === userId && (!token || token.id === token_id);
}

const leftOut = (domain: OpenDomain, { code, message: msg }: AppError): LeftOut => ({
  ...{ domain_id: domain.id, domain: shownName(domain), code, msg },
});
