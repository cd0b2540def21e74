import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Caller } from '../../access/access.js';
import { AuditService } from '../../audit/audit.service.js';
import type { CacheRow } from '../../cache/reconcile.js';
import { DriftRevertsRepository } from '../../changes/drift/drift-reverts.repository.js';
import {
  DriftSetsRepository,
  nameOf,
  type StoredSet,
  type WantedRecord,
} from '../../changes/drift/drift-sets.repository.js';
import { DriftSets } from '../../changes/drift/drift-sets.service.js';
import { storedHost } from '../../changes/edits/filter-names.js';
import { type ChangedState, stateOf, storedState } from '../../changes/history/states.js';
import { mayRead } from '../../changes/history/who.js';
import { assertMay } from '../../domains/access-rights.js';
import { changeRulesOf } from '../../domains/change-rules/change-rules.js';
import type { OpenDomain } from '../../domains/domain-policy.js';
import { DomainStateRepository } from '../../domains/domain-state.repository.js';
import { pageOf } from '../../platform/common/paging.dto.js';
import { due, turn } from '../../platform/common/turns.js';
import { Db } from '../../platform/database/db.js';
import { shownState } from '../history/shown-state.js';
import type { Accepted, AcceptQuery, DriftDifference, DriftQuery, DriftView } from './drift.dto.js';

/** A set with what it shall hold and what it holds. */
export interface Difference {
  set: StoredSet;
  wanted: WantedRecord[];
  found: CacheRow[];
}

/** What somebody changed at the provider, where that is not adopted. */
@Injectable()
export class DriftService {
  constructor(
    private readonly db: Db,
    private readonly drift: DriftSets,
    private readonly sets: DriftSetsRepository,
    private readonly reverts: DriftRevertsRepository,
    private readonly state: DomainStateRepository,
    private readonly audit: AuditService,
  ) {}

  async list(
    me: Caller,
    domain: OpenDomain,
    query: DriftQuery,
  ): Promise<DriftView & { asked: NonNullable<ReturnType<typeof pageOf>> }> {
    const asked = pageOf(query) ?? { page: 1, limit: 20 };
    const skip = (asked.page - 1) * asked.limit;
    const { mode } = changeRulesOf(domain).drift;
    const { total, planId } = await this.sets.summary(domain.id);
    const part = domain.access.rules
      ? await this.seen(me, domain, skip, asked.limit)
      : { total, hidden: 0, list: await this.of(domain.id, await this.sets.page(domain.id, asked.limit, skip)) };
    const revert = mode === 'revert' ? await this.reverts.one(domain.id) : undefined;
    return {
      ...{ mode, total: part.total, differences: part.list.map(differenceView), hidden: part.hidden },
      ...{ compared_at: domain.synced_at, plan_id: planId, hold_reason: revert?.hold_reason ?? null },
      asked,
    };
  }

  /**
   * What was found at some sets is wanted from now on.
   * @throws AppError 403001 where one of their records may not be written; nothing is done then
   */
  async accept(me: Caller, domain: OpenDomain, { host, type }: AcceptQuery): Promise<Accepted> {
    const at = host === undefined ? undefined : storedHost(host, domain.name, 'host');
    const of = type?.toUpperCase();
    const isMeant = (set: StoredSet) => (at ?? set.host) === set.host && (of ?? set.type) === set.type;
    const isSeen = seenBy(me, domain);
    const accepted = await this.db.transaction(async (manager) => {
      // no synchronisation finds something else meanwhile
      await this.state.hold(domain.id, manager);
      const gone: StoredSet[] = [];
      for await (const page of this.drift.all(domain.id, manager)) {
        const seen = (await this.of(domain.id, page.filter(isMeant), manager)).filter(isSeen);
        for (const state of seen.flatMap(statesOf)) assertMay(domain.access, domain.id, 'update', state);
        gone.push(...seen.map(({ set }) => set));
      }
      if (!gone.length) return 0;
      await this.sets.drop(domain.id, gone, manager);
      const names = gone.slice(0, 10).map(nameOf).join(', ');
      const target = { type: 'domain', id: domain.id, name: domain.name };
      const after = { sets: gone.length, names };
      await this.audit.write(manager, me, { action: 'changes.accept', domain, target, after });
      return gone.length;
    });
    if (!accepted) this.audit.notNeeded(me);
    return { accepted };
  }

  /** Some sets with what they shall hold and what they hold. */
  async of(domainId: number, sets: readonly StoredSet[], manager?: EntityManager): Promise<Difference[]> {
    const wanted = await this.sets.wanted(
      sets.map(({ id }) => id),
      manager,
    );
    const held = await this.drift.held(domainId, sets, manager);
    return sets.map((set) => ({ set, wanted: wanted.get(set.id) ?? [], found: held.get(nameOf(set)) ?? [] }));
  }

  /** What a token with rules may read of a page, and how many it may not. */
  private async seen(me: Caller, domain: OpenDomain, skip: number, limit: number) {
    const isSeen = seenBy(me, domain);
    const list: Difference[] = [];
    let [total, hidden] = [0, 0];
    for await (const page of this.drift.all(domain.id))
      for (const one of await this.of(domain.id, page)) {
        if (due()) await turn();
        if (!isSeen(one)) hidden++;
        else if (total++ >= skip && list.length < limit) list.push(one);
      }
    return { total, hidden, list };
  }
}

/** All records of a difference. */
export const statesOf = ({ wanted, found }: Difference) => [...wanted.map(({ state }) => state), ...found];

/** Whether a caller may know of a difference. */
const seenBy = (me: Caller, domain: OpenDomain) => {
  const isSeen = mayRead(me, domain);
  return (one: Difference): boolean => statesOf(one).every(isSeen);
};

function differenceView({ set, wanted, found }: Difference): DriftDifference {
  const { host, type, found_at, plan_id, hold_reason } = set;
  return {
    ...{ host, type, wanted: wanted.map(({ state }) => shownState(state)) },
    ...{ found: found.map((row) => shownState(stateOf(...storedState(row)) as ChangedState)) },
    ...{ found_at, plan_id, hold_reason },
  };
}
