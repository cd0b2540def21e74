import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AuditService } from '../../audit/audit.service.js';
import { endOf } from '../../cache/reconcile.js';
import { type Own, RecordCache } from '../../cache/record-cache.js';
import { SharedZones } from '../../domains/shared-zones.service.js';
import { now, timeMs } from '../../platform/common/clock.js';
import { CODES } from '../../platform/common/words/codes.js';
import type { Config } from '../../platform/config/config.js';
import { CONFIG } from '../../platform/config/config.module.js';
import { Db } from '../../platform/database/db.js';
import { isHolding, Leases } from '../../platform/database/leases.js';
import type { ChangedRecord } from '../history/change-set.entity.js';
import { ChangeSetsRepository, type OpenSet } from '../history/change-sets.repository.js';
import { type InDoubtChange, InDoubtRepository } from '../history/in-doubt.repository.js';
import { RecordChangesRepository } from '../history/record-changes.repository.js';
import { actorOf } from '../history/who.js';
import { hostsOf } from './evidence.js';
import { lockOf } from './locks.js';

/** ms until a domain is looked at again whose names in doubt are being changed */
const AGAIN_MS = 5_000;
/** ms from a write without an answer to the first look whether it came late */
const FIRST_LOOK_MS = 1_000;
const NOT_THERE = 'The provider gave no clear answer; what it holds shows that the change was not applied';
const NEITHER =
  'The provider gave no clear answer, and holds neither the record as it was nor as it was to be; make it again';
/** of one from before it was kept what it was to make */
const NOT_KNOWN = 'The provider gave no clear answer; whether it applied the change is not known any more';

/** ms that an accepted list is tried, from then or from its confirmation */
export const LIST_LIFE_MS = 86_400_000;

/**
 * Changes that were sent to a provider, and of which nobody knows whether they were applied: a call without a clear
 * answer, or a process that died. What a list of the provider proves of them is judged in `evidence.ts`.
 */
@Injectable()
export class InDoubtChanges {
  constructor(
    private readonly db: Db,
    private readonly leases: Leases,
    private readonly sets: ChangeSetsRepository,
    private readonly changes: RecordChangesRepository,
    private readonly rows: InDoubtRepository,
    private readonly cache: RecordCache,
    private readonly audit: AuditService,
    private readonly shared: SharedZones,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** `settle_after` of a change that comes into doubt at this moment. */
  settleAfter(): string {
    return now(this.config.unclearAfterMs);
  }

  /**
   * Takes over the change sets of a domain whose process is gone, or has lost its locks. What it had sent is in doubt
   * from now on; the rest was not tried, but stays as it is where the set goes on in the background (`resumable`).
   */
  async adoptDead(domainId: number): Promise<void> {
    const open = await this.sets.open(domainId);
    for (const set of open) if (!(await this.beingDone(domainId, set))) await this.adopt(domainId, set);
  }

  /** A list that its holder could not bring to its end: as of a process that is gone. */
  abandon(domainId: number, set: Pick<OpenSet, 'id' | 'background' | 'owner'>): Promise<void> {
    return this.adopt(domainId, set);
  }

  /**
   * Whether the cache may be wrong about one of these names: some change there has no known end, or its process is gone
   * before it could write down what it did. The caller holds the locks of the names, so no other writer is active
   * there.
   * @param domainIds all domains that are the zone
   * @param hosts null: all of the zone
   */
  async isAt(domainIds: readonly number[], hosts: readonly string[] | null): Promise<boolean> {
    return this.isIn({ ids: domainIds, unfinished: await this.sets.anyUnfinished(domainIds) }, hosts);
  }

  /** The same of a zone that was read under the locks. */
  async isIn(
    { ids: domainIds, unfinished }: { ids: readonly number[]; unfinished: boolean },
    hosts: readonly string[] | null,
  ): Promise<boolean> {
    if (!unfinished) return false;
    const rows = await this.rows.hostsInDoubt(domainIds);
    const asked = hosts && new Set(hosts);
    return rows.some((row) => !asked || hostsOf(row).some((host) => asked.has(host)));
  }

  private async adopt(domainId: number, { id, background, owner }: Omit<OpenSet, 'whole'>): Promise<void> {
    await this.db.transaction(async (manager) => {
      // it may have ended since it was looked at, or another process was faster
      if (!(await this.sets.adopt(id, owner, manager))) return;
      await this.rows.leaveInDoubt(id, this.settleAfter(), manager);
      if (!(await this.goesOn(manager, id, background))) await this.changes.dropPending(id, manager);
      const ids = await this.rows.recordsInDoubt(id, manager);
      await this.cache.markPending(manager, domainId, ids);
      await this.close(manager, [id]);
      await this.tell(manager, id);
    });
  }

  /** Whether the rest of an interrupted list is continued: of an atomic one only while nothing has failed. */
  private async goesOn(manager: EntityManager, id: number, background: boolean | number): Promise<boolean> {
    return Boolean(background) && !(await this.sets.hasFailedWhole(id, manager));
  }

  /** The audit entry of a list that was cut off: who asked for it, and what was written until then. */
  private async tell(manager: EntityManager, id: number): Promise<void> {
    const set = await this.sets.forAudit(id, manager);
    const states = await this.changes.byState(id, manager);
    const domain = { id: set.domain_id, name: set.domain };
    await this.audit.write(manager, actorOf(set), {
      action: 'record.batch',
      domain,
      target: { type: 'domain', ...domain },
      after: { total: set.total, ...Object.fromEntries(states.map(({ state, n }) => [state, Number(n)])) },
      result: 'failed',
      error: 'The list was cut off; what was sent is being asked for at the provider',
      changeSet: id,
    });
  }

  /**
   * Change sets that go on in the background and whose process is gone, oldest first, but for those that are held.
   * Whoever takes one up becomes its `owner` by compare-and-set (from '').
   */
  resumable(): Promise<{ id: number; domain_id: number }[]> {
    return this.sets.resumable(now());
  }

  /** Whether whoever began an open set lives and still has its locks. */
  private async beingDone(
    domainId: number,
    { id, whole, owner }: Pick<OpenSet, 'id' | 'whole' | 'owner'>,
  ): Promise<boolean> {
    if (isHolding(owner)) return this.leases.isHolding(owner);
    // of a version that wrote the process alone: whoever holds the names
    const zone = lockOf(domainId, null);
    if (whole) return this.leases.isHeld([zone]);
    const hosts = [...new Set((await this.changes.hostsOf(id)).flatMap(hostsOf))];
    return this.leases.isHeld(hosts.map((host) => lockOf(domainId, host)));
  }

  /** The changes in doubt of a domain, oldest first. */
  async of(domainId: number, manager?: EntityManager): Promise<InDoubtChange[]> {
    const rows = await this.rows.inDoubt(domainId, manager);
    return rows.map(({ state_before, value_before, state_after, value_after, ...row }) => {
      const before = state(state_before, value_before);
      const after = state(state_after, value_after);
      const own = after && { from: ownOf(before), to: ownOf(after) };
      const states = { before: before?.values ?? null, after: after?.values ?? null };
      return { ...row, ...states, own, atomic: Boolean(row.atomic) };
    });
  }

  /**
   * When the next look at a domain's changes in doubt is worth its call, in ms of `timeMs()`: when a list can prove
   * more than one of now, and before that at times which grow further apart, since what comes late is proved at once.
   * @returns null: there are none
   */
  async nextLook(domainId: number): Promise<number | null> {
    const at = await this.rows.firstSettleAfter(domainId);
    if (at === null) return null;
    const ripe = Date.parse(at) || 0;
    if (ripe < timeMs()) return timeMs() + AGAIN_MS;
    const waited = timeMs() - (ripe - this.config.unclearAfterMs);
    return Math.min(ripe + 1, timeMs() + Math.max(FIRST_LOOK_MS, waited));
  }

  /**
   * Hosts that somebody changed since `revision`, or is changing: what a list read meanwhile says of them is not to be
   * trusted. In a transaction that has locked the domain's row.
   */
  async busyHosts(manager: EntityManager, domainId: number, revision: number): Promise<Set<string>> {
    const changed = await this.changes.hostsSince(domainId, revision, manager);
    const beingChanged = await this.changes.hostsBeingChanged(domainId, manager);
    return new Set([...changed, ...beingChanged].flatMap(hostsOf));
  }

  /**
   * Writes down what came of changes in doubt, and takes the mark from rows that no other one touches.
   * @param gone those of `failed` of whose record neither the old nor the new state is there
   * @param applied with the id of the row that each made or changed, null where there is none any more
   */
  async settle(
    manager: EntityManager,
    domainId: number,
    applied: ReadonlyMap<InDoubtChange, number | null>,
    failed: readonly InDoubtChange[],
    gone: ReadonlySet<number> = new Set(),
  ): Promise<void> {
    for (const [{ id, record_id }, row] of applied) await this.changes.applied(id, row ?? record_id, manager);
    for (const change of failed) {
      const { id, before, after, expected } = change;
      const known = before || after || expected !== null;
      if (known && !gone.has(id) && (await this.againLater(manager, change))) continue;
      const msg = gone.has(id) ? NEITHER : known ? NOT_THERE : NOT_KNOWN;
      const error = JSON.stringify({ code: CODES.provider.code, msg });
      await this.changes.failed(id, error, manager);
    }
    const settled = [...applied.keys(), ...failed];
    const rows = [...new Set(settled.flatMap((change) => change.record_id ?? []))];
    const waiting = await this.rows.inDoubtAmong(rows, manager);
    const clear = rows.filter((id) => !waiting.has(id));
    await this.cache.markPending(manager, domainId, clear, false);
    await this.close(manager, [...new Set(settled.map((change) => change.change_set_id))]);
  }

  /**
   * What the provider answered with a failure, and certainly did not carry out, is tried again where its list goes on
   * by itself. What was on its way when a process died is not. @returns whether it is
   */
  private async againLater(manager: EntityManager, { id, change_set_id }: InDoubtChange): Promise<boolean> {
    const again = await this.changes.tryAgain(id, now(-LIST_LIFE_MS), manager);
    if (again) await this.sets.free(change_set_id, manager);
    return again > 0;
  }

  /** Derives the states of sets that nobody works on from those of their changes. */
  private async close(manager: EntityManager, ids: readonly number[]): Promise<void> {
    for (const id of ids) {
      const left = await this.changes.openStates(id, manager);
      // a list in the background stays open until somebody takes it up
      const next = left.has('unknown') ? 'unknown' : left.size ? 'open' : 'done';
      await this.sets.settled(id, next, next === 'done' ? now() : null, manager);
    }
  }

  /** Nobody is asked any more what became of the changes of a domain that is gone. */
  private async endOfGone(id: number): Promise<void> {
    await this.changes.endOfGone(id);
    await this.sets.finish(id, now());
  }

  /**
   * Domains, with their accounts, that have changes in doubt which nobody works on, or whose zone was changed
   * as another domain. Sets of domains that are gone end here.
   */
  async domains(): Promise<{ id: number; accountId: number; ownerId: number | null }[]> {
    const rows = await this.sets.unfinished();
    const outdated = await this.shared.outdated();
    const found = new Map(outdated.map(({ id, accountId, ownerId }) => [id, { accountId, ownerId }]));
    for (const { id, state, whole, owner, domain_id, account_id, owner_id } of rows) {
      if (account_id !== null && found.has(domain_id)) continue;
      if (state === 'open' && (await this.beingDone(domain_id, { id, whole, owner }))) continue;
      if (account_id !== null) found.set(domain_id, { accountId: account_id, ownerId: owner_id });
      else await this.endOfGone(id);
    }
    return [...found].map(([id, whose]) => ({ id, ...whose }));
  }
}

/** A stored state as the values of a row. */
function state(json: string | null, value: string | null): { values: InDoubtChange['before']; remark: string } | null {
  if (json === null || value === null) return null;
  const { remark, ...values } = JSON.parse(json) as ChangedRecord;
  return { values: { ...values, value }, remark };
}

const ownOf = (one: ReturnType<typeof state>): Own => ({ ...endOf(one?.values ?? {}), remark: one?.remark ?? '' });
