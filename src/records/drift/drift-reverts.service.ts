import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Caller, Principal } from '../../access/access.js';
import { AuditService } from '../../audit/audit.service.js';
import type { DriftRevert } from '../../changes/drift/drift.entity.js';
import { DriftRevertsRepository, type StoredRevert } from '../../changes/drift/drift-reverts.repository.js';
import { DriftSetsRepository, nameOf, type StoredSet } from '../../changes/drift/drift-sets.repository.js';
import { DriftSets } from '../../changes/drift/drift-sets.service.js';
import { ChangeGate } from '../../changes/gate/change-gate.service.js';
import { Waits } from '../../changes/gate/waits.js';
import { ChangeSetsRepository } from '../../changes/history/change-sets.repository.js';
import { RecordChangesRepository } from '../../changes/history/record-changes.repository.js';
import { PlansRepository } from '../../changes/plans/plans.repository.js';
import { judgeRecord } from '../../domains/access-rights.js';
import { changeRulesOf } from '../../domains/change-rules/change-rules.js';
import type { DomainRow, OpenDomain } from '../../domains/domain-policy.js';
import { DomainStateRepository } from '../../domains/domain-state.repository.js';
import { DomainsService } from '../../domains/domains.service.js';
import { Notices } from '../../notifications/notices.service.js';
import { now, sleep, timeMs } from '../../platform/common/clock.js';
import { actingLater } from '../../platform/common/deadline.js';
import { AppError } from '../../platform/common/errors.js';
import { FairPool } from '../../platform/common/fair-pool.js';
import { Logger } from '../../platform/common/logger.js';
import { due, turn } from '../../platform/common/turns.js';
import { CODES } from '../../platform/common/words/codes.js';
import { DatabaseService } from '../../platform/database/database.service.js';
import { Db } from '../../platform/database/db.js';
import { Installation } from '../../platform/database/installation.js';
import { Leases } from '../../platform/database/leases.js';
import { Jobs } from '../../platform/jobs/jobs.js';
import { Makers } from '../../tokens/makers.service.js';
import type { BatchResult } from '../batch/batch.dto.js';
import type { PlanView } from '../plans/plan.dto.js';
import { stateNow } from '../plans/plan-view.js';
import { PlansService } from '../plans/plans.service.js';
import { type Difference, DriftService, statesOf } from './drift.service.js';

/** ms between two looks for drift to take back */
const EVERY_MS = 15_000;
/** ms until what failed is tried again, at first and at most */
const PAUSE_MS = 15_000;
const PAUSE_MAX_MS = 300_000;
/** ms within which a set is taken back so often; then somebody has to say what is wanted */
const WITHIN_MS = 3_600_000;
const MOST = 5;
/** ms that a long list is waited for */
const LIST_MS = 60_000;
/** ms that one process waits for another one */
const LOCK_MS = 1_000;
const COMMENT = 'Drift: back to what is wanted';

/** What does not fit for a moment only. */
const PASSING: ReadonlySet<unknown> = new Set(['busy', 'earlier_change_unclear', 'plan_ended']);
const UNFIT: ReadonlySet<number> = new Set([CODES.validation.code, CODES.forbidden.code, CODES.conflict.code]);

/** How often something failed in a row, and when it may be tried again. */
interface Pause {
  fails: number;
  until: number;
}

/** Who acts: whoever set it, with their rights of now. */
interface Actor {
  caller: Caller;
  domain: OpenDomain;
}

/**
 * Takes back what somebody changed at the provider, in domains whose `drift.mode` says so: as a plan in the name of who
 * set that, applied where it meets no guard. What others undo again and again is taken back more and more seldom, and
 * then left to people.
 */
@Injectable()
export class DriftReverts implements OnModuleInit {
  private readonly pool = new FairPool('drift reverts');
  /** domains that are being worked on, or wait for that */
  private readonly going = new Map<number, Promise<void>>();
  private readonly pauses = new Map<number, Pause>();

  constructor(
    private readonly db: Db,
    private readonly database: DatabaseService,
    private readonly installation: Installation,
    private readonly jobs: Jobs,
    private readonly leases: Leases,
    private readonly reverts: DriftRevertsRepository,
    private readonly sets: DriftSetsRepository,
    private readonly drift: DriftSets,
    private readonly differences: DriftService,
    private readonly domains: DomainsService,
    private readonly state: DomainStateRepository,
    private readonly makers: Makers,
    private readonly gate: ChangeGate,
    private readonly plans: PlansService,
    private readonly stored: PlansRepository,
    private readonly lists: ChangeSetsRepository,
    private readonly changes: RecordChangesRepository,
    private readonly notices: Notices,
    private readonly audit: AuditService,
    private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    this.jobs.schedule('drift.revert', EVERY_MS, (signal) => this.look(signal));
  }

  /** Goes on as long as there is something to do; what ends meanwhile waits for none that hangs. */
  async look(signal: AbortSignal): Promise<void> {
    do {
      if (!this.database.open || this.installation.halted) return;
      await this.beginAll(signal);
      const soon = sleep(EVERY_MS, { signal, idle: true });
      await Promise.race([Promise.all(this.going.values()), ...(this.going.size ? [soon] : [])]);
    } while (this.going.size && !signal.aborted);
  }

  private async beginAll(signal: AbortSignal): Promise<void> {
    for (let page = await this.reverts.due(0); page.length; page = await this.reverts.due(page.at(-1) as number))
      for (const id of page) if (!this.going.has(id) && this.isRipe(id)) this.begin(id, signal);
  }

  private begin(domainId: number, signal: AbortSignal): void {
    const end = this.inTurn(domainId, signal)
      .catch((error: Error) => {
        if (signal.aborted || (error instanceof AppError && error.status === 404)) return;
        const fails = (this.pauses.get(domainId)?.fails ?? 0) + 1;
        const ms = Math.min(PAUSE_MAX_MS, PAUSE_MS * 2 ** (fails - 1));
        this.pauses.set(domainId, { fails, until: timeMs() + ms });
        this.logger.warn({ domain_id: domainId, err: error.message }, 'drift is not taken back yet');
      })
      .finally(() => this.going.delete(domainId));
    this.going.set(domainId, end);
  }

  private async inTurn(domainId: number, signal: AbortSignal): Promise<void> {
    const { owner_id: user } = await this.domains.reload(domainId);
    const once = () => this.leases.hold([`drift|${domainId}`], LOCK_MS, () => this.revert(domainId));
    await this.pool.run({ user, target: domainId }, () => actingLater(once), signal);
    this.pauses.delete(domainId);
  }

  /** Takes back what may be now. @throws AppError, ProviderError: it is tried again */
  private async revert(domainId: number): Promise<void> {
    const domain = await this.domains.reload(domainId);
    const revert = await this.reverts.one(domainId);
    if (!revert || revert.hold_reason !== null || changeRulesOf(domain).drift.mode !== 'revert') return;
    const actor = await this.actorOf(revert, domain);
    if (typeof actor === 'string') return this.holdAll(revert, domain, actor);
    const ripe = await this.ripe(revert, actor);
    if (!ripe.length) return;
    try {
      this.gate.assertOpen(domain);
      await this.takeBack(actor, ripe);
    } catch (error) {
      // in a freeze it waits
      if (!(error instanceof AppError) || error.code !== CODES.frozen.code) throw error;
    }
  }

  private async actorOf(revert: StoredRevert, domain: DomainRow): Promise<Actor | string> {
    const right = (await this.makers.inDomains(revert, [domain.id], 'records', 'records:write')).get(domain.id);
    if (right === undefined || typeof right === 'string') return right ?? 'the domain is gone';
    const { principal, access } = right;
    return { caller: callerOf(principal), domain: { ...domain, access } };
  }

  /** The sets of which nothing is in the way. Those that whoever set it may not write, or that come back, are held. */
  private async ripe({ created_at }: DriftRevert, { domain }: Actor): Promise<StoredSet[]> {
    const hourAgo = now(-WITHIN_MS);
    const since = created_at > hourAgo ? created_at : hourAgo;
    const done = new Map((await this.changes.touchedBy(domain.id, 'drift', since)).map((one) => [nameOf(one), one]));
    const ripe: StoredSet[] = [];
    const held = new Map<string, StoredSet[]>();
    for (const one of await this.differences.of(domain.id, await this.free(domain.id))) {
      if (due()) await turn();
      const { n = 0, last = '' } = done.get(nameOf(one.set)) ?? {};
      const hold_reason = refusalOf(domain, one) ?? tooOften(Number(n));
      if (hold_reason !== null) held.set(hold_reason, [...(held.get(hold_reason) ?? []), one.set]);
      else if (isOver(Number(n), last)) ripe.push(one.set);
    }
    for (const [hold_reason, sets] of held) await this.hold(domain, sets, { hold_reason, plan_id: null });
    return ripe;
  }

  /** The sets that are not held, and of which no plan waits. */
  private async free(domainId: number): Promise<StoredSet[]> {
    const ended = new Map<number, boolean>();
    const free: StoredSet[] = [];
    for await (const page of this.drift.all(domainId))
      for (const set of page) if (set.hold_reason === null && (await this.isFree(set, ended))) free.push(set);
    return free;
  }

  /** Whether no plan of a set waits for somebody, or was turned down. @param ended plans that were looked at */
  private async isFree({ plan_id: id }: StoredSet, ended: Map<number, boolean>): Promise<boolean> {
    if (id === null) return true;
    const known = ended.get(id);
    if (known !== undefined) return known;
    const plan = await this.stored.one(id);
    const state = plan && stateNow(plan);
    const goesOn = plan?.change_set_id && (await this.lists.goesOn(plan.change_set_id));
    const isFree = !state || state === 'stale' || state === 'expired' || (state === 'applied' && !goesOn);
    ended.set(id, isFree);
    return isFree;
  }

  /** Takes some sets back. Where they do not fit together, each name goes by itself, and one that does not is held. */
  private async takeBack(actor: Actor, sets: readonly StoredSet[]): Promise<void> {
    try {
      await this.plan(actor, sets);
    } catch (error) {
      if (!isUnfit(error)) throw error;
      const hosts = new Map<string, StoredSet[]>();
      for (const set of sets) hosts.set(set.host, [...(hosts.get(set.host) ?? []), set]);
      if (hosts.size === 1) return this.hold(actor.domain, sets, { plan_id: null, hold_reason: error.message });
      for (const some of hosts.values()) await this.takeBack(actor, some);
    }
  }

  /** Plans what takes some sets back, and applies that where it meets no guard. */
  private async plan(actor: Actor, sets: readonly StoredSet[]): Promise<void> {
    const { caller, domain } = actor;
    const names = new Set(sets.map(nameOf));
    const view = await this.plans.create(caller, domain, { drift: true, comment: COMMENT }, (set) =>
      names.has(nameOf(set)),
    );
    if (view.id === null) return this.unreachable(domain, sets);
    if (view.guards.length) return this.guarded(domain, sets, view.id, view.guards);
    const result = await this.apply(actor, sets, view.id);
    if (result && !result.outcomes) await this.later(sets, view.id);
    const failed = result?.outcomes?.find(({ ok }) => !ok);
    if (failed) throw new Error(failed.error?.msg);
  }

  /** @returns null where it waits for somebody, or has come too late */
  private async apply({ caller, domain }: Actor, sets: readonly StoredSet[], id: number): Promise<BatchResult | null> {
    try {
      return await this.plans.apply(caller, id, {}, LIST_MS);
    } catch (error) {
      if (error instanceof Waits) {
        await this.hold(domain, sets, { plan_id: error.planId, hold_reason: null }, 'an approval');
        return null;
      }
      if (!(error instanceof AppError)) throw error;
      const { code, data } = error;
      if (code === CODES.guarded.code) {
        await this.guarded(domain, sets, id, (data as Pick<PlanView, 'guards'>).guards);
        return null;
      }
      // something else stands there by now: the next look plans it anew
      if (code === CODES.precondition.code) return null;
      throw error;
    }
  }

  private guarded(
    domain: DomainRow,
    sets: readonly StoredSet[],
    plan_id: number,
    guards: PlanView['guards'],
  ): Promise<void> {
    const keys = guards.map(({ key }) => key).join(', ');
    return this.hold(domain, sets, { plan_id, hold_reason: null }, `somebody who applies it (${keys})`);
  }

  /** What the provider keeps by itself, or what has no other name server, stays. */
  private async unreachable(domain: DomainRow, sets: readonly StoredSet[]): Promise<void> {
    const there = await this.sets.those(domain.id, sets);
    await this.hold(domain, there, { plan_id: null, hold_reason: 'no change leads to what is wanted' });
  }

  /** A long list goes on by itself. */
  private later(sets: readonly StoredSet[], plan_id: number): Promise<void> {
    const ids = sets.map(({ id }) => id);
    return this.db.transaction((manager) => this.sets.hold(ids, { plan_id, hold_reason: null, told: false }, manager));
  }

  /** Some sets are not taken back by themselves, which is told once of each. @param waits what their plan waits for */
  private async hold(
    { id, name }: DomainRow,
    sets: readonly StoredSet[],
    fields: Pick<StoredSet, 'plan_id' | 'hold_reason'>,
    waits?: string,
  ): Promise<void> {
    if (!sets.length) return;
    const ids = sets.map((set) => set.id);
    const news = sets.filter(({ told }) => !told);
    const names = news
      .slice(0, 10)
      .map(({ host, type }) => `${host} ${type}`)
      .join(', ');
    const why = waits ? `plan ${fields.plan_id} waits for ${waits}` : fields.hold_reason;
    await this.db.transaction(async (manager) => {
      await this.state.hold(id, manager);
      await this.sets.hold(ids, { ...fields, told: true }, manager);
      if (!news.length) return;
      const text = `What somebody changed at the provider of ${name} is not taken back (${names}): ${why}`;
      const details = { sets: news.length, names, plan_id: fields.plan_id };
      await this.notices.tell(manager, { event: 'domain.drift', text, domain: name, details });
      await this.held(manager, { id, name }, { reason: why, ...details });
    });
  }

  /** Nothing is taken back any more, since who set it has lost the right; owner and administrators are notified. */
  private async holdAll(
    { id }: StoredRevert,
    { id: domainId, name, owner_id: owner }: DomainRow,
    reason: string,
  ): Promise<void> {
    await this.db.transaction(async (manager) => {
      if (!(await this.reverts.hold(id, reason, manager))) return;
      const text = `Drift of ${name} is not taken back any more: ${reason}. It goes on when drift is set to another value`;
      await this.makers.tell(manager, { text, domain: name, owner });
      await this.held(manager, { id: domainId, name }, { reason });
    });
  }

  private held(manager: EntityManager, domain: Pick<DomainRow, 'id' | 'name'>, after: object): Promise<void> {
    const target = { type: 'domain', ...domain };
    return this.audit.write(manager, 'system', { action: 'changes.hold', domain, target, after });
  }

  private isRipe(domainId: number): boolean {
    return (this.pauses.get(domainId)?.until ?? 0) <= timeMs();
  }
}

const callerOf = (principal: Principal): Caller => ({ ip: '', userAgent: '', requestId: '', principal });

/** Whether changes cannot be made as they are, whenever that is tried. */
const isUnfit = (error: unknown): error is AppError =>
  error instanceof AppError && UNFIT.has(error.code) && !PASSING.has((error.data as { reason?: string })?.reason);

/** Why somebody may not take a difference back; null: they may. */
function refusalOf({ id, access }: OpenDomain, one: Difference): string | null {
  const verdicts = statesOf(one).map((state) => judgeRecord(access, id, 'update', state));
  return verdicts.find(({ allowed }) => !allowed)?.reason ?? null;
}

const tooOften = (times: number): string | null =>
  times < MOST ? null : `it was taken back ${times} times within an hour, and was changed again each time`;

/** Whether the pause after a set was taken back so often is over. */
const isOver = (times: number, last: string): boolean =>
  !times || timeMs() >= Date.parse(last) + PAUSE_MS * 2 ** (times - 1);
