import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { type Caller, type Right, signedIn } from '../../access/access.js';
import { type Base, Stale } from '../../changes/edits/base.js';
import { Places } from '../../changes/edits/edit.js';
import { ChangeEngine } from '../../changes/engine.service.js';
import { editOf, hostsOf, type PlannedChange } from '../../changes/gate/planned.js';
import { PastRepository } from '../../changes/history/past.repository.js';
import { type ChangedState, stateOf } from '../../changes/history/states.js';
import { RecordSyncService } from '../../changes/in-doubt/record-sync.service.js';
import type { Plan } from '../../changes/plans/plan.entity.js';
import { judged, PlanBuilder } from '../../changes/plans/plan-builder.service.js';
import { PlanGroupsRepository } from '../../changes/plans/plan-groups.repository.js';
import { PlansRepository, type StoredPlanChange } from '../../changes/plans/plans.repository.js';
import { LIFE_MS } from '../../changes/plans/waiting-plans.service.js';
import { refusal, rightOf } from '../../domains/access-rights.js';
import type { Scope } from '../../domains/change-rules/scope.js';
import { DomainPolicy, type OpenDomain } from '../../domains/domain-policy.js';
import { DomainsService } from '../../domains/domains.service.js';
import { now } from '../../platform/common/clock.js';
import { type AppError, errors } from '../../platform/common/errors.js';
import { pageOf } from '../../platform/common/paging.dto.js';
import { say } from '../../platform/common/words/field-text.js';
import { Jobs } from '../../platform/jobs/jobs.js';
import type { BatchResult } from '../batch/batch.dto.js';
import { batchResult } from '../batch/batch.service.js';
import { shownState } from '../history/shown-state.js';
import type { ApplyInput, PlanInput, PlanList, PlanQuery, PlanView } from './plan.dto.js';
import { PlanStore } from './plan-store.service.js';
import { PlanTargets } from './plan-targets.service.js';
import { headOf, numbered, planRow, planView, stateNow } from './plan-view.js';

/** How long plans that have expired are shown, and those that were applied, discarded or rejected. */
const EXPIRED_KEPT_MS = LIFE_MS;
const KEPT_MS = 7 * LIFE_MS;
const HOUR_MS = 3_600_000;
/** differences that a stale plan names */
const MAX_DIFFERENCES = 1000;

/** How a plan is applied. */
export interface Applying {
  /** ms that a long list is waited for */
  waitMs: number;
  comment: string;
  /** guards that are meant */
  force: readonly string[];
  /** none of its changes is left out */
  whole: boolean;
  /** it goes on after a crash, however short it is */
  lasting?: boolean;
  /** why it is made in spite of a freeze, where the actor does not say so at this moment */
  override?: string | undefined;
  /** who approved it, and what they see; `stored`: what is stored with the list */
  approval?: {
    me: Caller;
    access: OpenDomain['access'];
    override: string | undefined;
    stored: (changeSet: number, manager: EntityManager) => Promise<void>;
  };
}

/** Plans: worked out, shown, and applied as they were shown or not at all. */
@Injectable()
export class PlansService implements OnModuleInit {
  constructor(
    private readonly store: PlanStore,
    private readonly plans: PlansRepository,
    private readonly groups: PlanGroupsRepository,
    private readonly builder: PlanBuilder,
    private readonly targets: PlanTargets,
    private readonly engine: ChangeEngine,
    private readonly places: Places,
    private readonly sync: RecordSyncService,
    private readonly past: PastRepository,
    private readonly domains: DomainsService,
    private readonly policy: DomainPolicy,
    private readonly jobs: Jobs,
  ) {}

  onModuleInit(): void {
    this.jobs.schedule('plans.prune', HOUR_MS, () => this.prune());
  }

  /** Deletes the plans that are not shown any more. */
  async prune(): Promise<void> {
    const before = [now(-EXPIRED_KEPT_MS), now(-KEPT_MS)] as const;
    await this.plans.prune(...before);
    await this.groups.prune(...before);
  }

  /**
   * @param drifted of drift only what is in it
   * @throws AppError 400001 and 404001 of the target, 409001, 409002, 429001; ProviderError where the zone cannot be
   * read
   */
  async create(me: Caller, opened: OpenDomain, input: PlanInput, drifted?: Scope): Promise<PlanView> {
    const zone = await this.builder.read(me, opened);
    const { domain } = zone;
    const wish = this.targets.of(me, domain, input, zone.rows, drifted);
    // without the edits, which nobody needs while it is stored
    const { planned: _, ...draft } = await this.builder.build(me, zone, await wish);
    const { changes } = draft;
    const plan = planRow(me, domain, draft, input.comment, input.drift ? 'drift' : 'plan');
    // drift plans of the service have no limit
    if (!drifted) await this.store.admit(me, [draft]);
    const id = await this.store.insert(plan, changes);
    return planView(me, domain, { ...plan, id }, numbered(draft));
  }

  async list(me: Caller, domain: OpenDomain, query: PlanQuery): Promise<PlanList & { page: number; limit: number }> {
    const { page, limit } = pageOf(query) ?? { page: 1, limit: 20 };
    const { rows, total } = await this.plans.page(domain.id, query.state, now(), limit, (page - 1) * limit);
    const list = rows.map((plan) => ({ id: plan.id, ...headOf(me, domain, plan) }));
    return { total, list, page, limit };
  }

  /** @throws AppError 404001, also for a plan of a domain that may not be read */
  async get(me: Caller, id: number): Promise<PlanView> {
    const { plan, domain } = await this.open(me, id, 'read');
    return planView(me, domain, plan, await this.plans.changes(id));
  }

  /** @throws AppError 404001; 409001 for a plan that has an end, or is a part of one over many domains */
  async discard(me: Caller, id: number): Promise<void> {
    const { plan, domain } = await this.open(me, id, 'read');
    const state = stateNow(plan);
    if (state !== 'open' && state !== 'waiting') throw errors.conflict('plan_ended', { state });
    await this.assertFree(plan);
    // who asked may take that back, whatever they may do by now
    const { userId, token } = signedIn(me);
    if (plan.user_id !== userId || (token && token.id !== plan.token_id)) {
      await this.policy.open(signedIn(me), domain.id, 'records');
      assertAllowed(me, domain, await this.plans.changes(id));
    }
    if (!(await this.plans.end(id, 'discarded', null))) throw errors.conflict('plan_ended', { state: 'applied' });
  }

  /**
   * Carries a plan out as it was shown.
   * @param waitMs how long a long list is waited for
   * @throws AppError 400001 for ids that it does not have; 403001 where a change may not be made; 409001 for one that
   * has an end; 409003 for guards that are not named; 412001 where something else stands at a name concerned; nothing
   * is done then
   */
  async apply(me: Caller, id: number, input: ApplyInput, waitMs: number): Promise<BatchResult & { domain_id: number }> {
    const { plan, domain } = await this.open(me, id, 'records');
    assertOpen(plan);
    await this.assertFree(plan);
    const all = await this.plans.changes(id);
    const changes = chosen(all, input.only);
    assertWholeSets(all, changes);
    const whole = changes.length === all.length;
    const comment = input.comment ?? plan.comment;
    return this.carryOut(me, domain, { plan, changes }, { waitMs, comment, force: input.force ?? [], whole });
  }

  /**
   * Makes changes of a plan, if all of them may be made and all is as it was.
   * @param actor in whose name, with the domain as it is for them
   * @throws AppError 403001, 409001, 409003, 412001, 423002
   */
  async carryOut(
    actor: Caller,
    opened: OpenDomain,
    { plan, changes }: { plan: Plan; changes: readonly StoredPlanChange[] },
    { waitMs, comment, force, whole, lasting = false, override, approval }: Applying,
  ): Promise<BatchResult & { domain_id: number }> {
    const { id } = plan;
    // who sees what is told of it
    const me = approval?.me ?? actor;
    assertAllowed(actor, opened, changes);
    await this.sync.refresh(opened, 'system');
    const domain = { ...(await this.domains.reload(opened.id)), access: opened.access };
    const { connection } = await this.places.of(domain);
    const options = {
      ...{ door: plan.door, comment, atomic: false, strict: true, lasting, override },
      ...(approval && { approver: signedIn(approval.me), override: approval.override }),
      base: basesOf(changes),
      plan: {
        ...{ id, whole, force, ids: changes.map(({ position }) => position) },
        emptied: changes.some(({ guards }) => guards.includes('empty_document')),
      },
      only: setsOf(changes),
      stored: async (changeSet: number, manager: EntityManager) => {
        if (!(await this.plans.end(id, 'applied', changeSet, manager)))
          throw errors.conflict('plan_ended', { state: 'applied' });
        await approval?.stored(changeSet, manager);
      },
    };
    try {
      const edits = changes.map(editOf);
      const { changeSet, results } = await this.engine.list(actor, domain, edits, options, waitMs, connection);
      if (changeSet === null && !(await this.plans.end(id, 'applied', null))) throw await this.ended(id);
      return { ...batchResult(me, changeSet, results, null), domain_id: domain.id };
    } catch (error) {
      if (!(error instanceof Stale)) throw error;
      // of two that apply it at once, one finds what the other one has made
      if (!(await this.plans.end(id, 'stale', null))) throw await this.ended(id);
      const seen = approval ? { ...domain, access: approval.access } : domain;
      throw errors.precondition('plan_stale', {}, { differences: await this.differences(me, seen, plan, changes) });
    }
  }

  /** @throws AppError 409001 for a part of a plan over many domains, before that is applied */
  private async assertFree({ group_id: group }: Plan): Promise<void> {
    const whole = group === null ? undefined : await this.groups.one(group);
    if (whole?.state === 'open' || whole?.state === 'applying')
      throw errors.conflict('plan_of_group', { group: whole.id });
  }

  private async ended(id: number): Promise<AppError> {
    const plan = await this.plans.one(id);
    return plan ? errors.conflict('plan_ended', { state: stateNow(plan) }) : errors.notFound('plan');
  }

  /** What differs at the names of a plan from what it was worked out on, as far as the caller may read it. */
  private async differences(me: Caller, domain: OpenDomain, { version }: Plan, changes: readonly PlannedChange[]) {
    const hosts = new Set(changes.flatMap(hostsOf));
    const newest = await this.past.newest(domain.id);
    const spans = await this.past.spans(domain.id, version, newest, 0, MAX_DIFFERENCES);
    const states = await this.past.states(spans.flatMap(({ first_id, last_id }) => [first_id, last_id]));
    return spans.flatMap(({ first_id, last_id }) => {
      const [first, last] = [states.get(first_id), states.get(last_id)];
      const before = first ? stateOf(first.state_before, first.value_before) : null;
      const after = last ? stateOf(last.state_after, last.value_after) : null;
      const shown = after ?? before;
      const { visible } = judged(me, domain, { op: 'update', recordId: null, before, after });
      if (!shown || !visible || ![before, after].some((state) => state && hosts.has(state.host))) return [];
      const view = (state: ChangedState | null) => state && shownState(state);
      return [{ host: shown.host, type: shown.type, planned_on: view(before), found: view(after) }];
    });
  }

  /** A plan with its domain. @throws AppError 404001, 403001 */
  async open(me: Caller, id: number, right: Right): Promise<{ plan: Plan; domain: OpenDomain }> {
    const plan = await this.plans.one(id);
    if (!plan) throw errors.notFound('plan');
    const domain = await this.policy.look(signedIn(me), plan.domain_id);
    if (!domain || !this.policy.judgeDomain(signedIn(me), domain.id, domain, 'read').allowed)
      throw errors.notFound('plan');
    const opened = right === 'read' ? domain : await this.policy.open(signedIn(me), domain.id, right);
    return { plan, domain: await this.domains.withZoneRules(opened) };
  }
}

/** @throws AppError 409001 */
function assertOpen(plan: Plan): void {
  const state = stateNow(plan);
  if (state !== 'open') throw errors.conflict('plan_ended', { state });
}

/** @throws AppError 400001 for ids that the plan does not have */
function chosen(changes: readonly StoredPlanChange[], only: readonly number[] | undefined): StoredPlanChange[] {
  if (!only) return [...changes];
  const wanted = new Set(only);
  const found = changes.filter(({ position }) => wanted.has(position));
  const known = new Set(found.map(({ position }) => position));
  const unknown = only.findIndex((id) => !known.has(id));
  if (unknown >= 0) throw errors.field(`only.${unknown}`, 'is no change of this plan', 'unknown');
  if (!found.length) throw errors.field('only', 'must name at least one change', 'length');
  return found;
}

/** Where the TTL of a set changes, its changes go together. @throws AppError 400001 */
function assertWholeSets(all: readonly StoredPlanChange[], changes: readonly StoredPlanChange[]): void {
  if (all.length === changes.length) return;
  const setOf = ({ before, after }: PlannedChange) => {
    const { host, type, line } = (after ?? before) as ChangedState;
    return `${type} ${line} ${host}`;
  };
  const moves = ({ before, after }: PlannedChange) => before !== null && after !== null && before.ttl !== after.ttl;
  const moving = new Set(all.filter(moves).map(setOf));
  const some = new Set(changes.map(setOf));
  const known = new Set(changes.map(({ position }) => position));
  const left = all.find((one) => !known.has(one.position) && moving.has(setOf(one)) && some.has(setOf(one)));
  if (left)
    throw errors.field(
      'only',
      say('leaves out change {id}: the TTL of its set changes', { id: left.position }),
      'conflict',
    );
}

/** @throws AppError 403001 */
export function assertAllowed(me: Caller, domain: OpenDomain, changes: readonly PlannedChange[]): void {
  for (const change of changes) {
    const { visible, denied } = judged(me, domain, change);
    if (!denied) continue;
    if (!visible) throw errors.forbidden('rest_not_yours', {}, { required: `domain:${domain.id}:write` });
    throw refusal(denied, rightOf(change.op, (change.after ?? change.before) as ChangedState));
  }
}

/** What has to stand at the names of some changes. */
function basesOf(changes: readonly PlannedChange[]): Base {
  const bases = new Map<string, Base[number] & { remarks: { id: number; remark: string }[] }>();
  for (const change of changes) {
    const { recordId: id, before, after, base } = change;
    const hosts = hostsOf(change);
    const one = bases.get(hosts.join(' ')) ?? { hosts, base, remarks: [] };
    bases.set(hosts.join(' '), one);
    if (id !== null && before && after && before.remark !== after.remark)
      one.remarks.push({ id, remark: before.remark });
  }
  return [...bases.values()];
}

/** The sets that some changes are of. */
function setsOf(changes: readonly PlannedChange[]) {
  const states = changes.flatMap(({ before, after }) => [before, after].filter((state) => state !== null));
  return [...new Map(states.map(({ host, type, line }) => [`${type} ${line} ${host}`, { host, type, line }])).values()];
}
