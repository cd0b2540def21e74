import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { type CacheRow, endOf } from '../../cache/reconcile.js';
import { RecordCache } from '../../cache/record-cache.js';
import type { InDoubtChange } from '../history/in-doubt.repository.js';
import type { judge } from './evidence.js';
import { type Claims, FoundChanges, type Steps } from './found-changes.js';
import { InDoubtChanges } from './in-doubt-changes.js';
import { LocalOnlyRecords } from './local-only-records.js';

type Verdicts = ReturnType<typeof judge>;
/** Changes that were applied, with the ids of the rows that each made or changed; null: there is none any more. */
type Applied = Map<InDoubtChange, number | null>;

/** How many changes in doubt have an end now. */
export interface Settled {
  applied: number;
  failed: number;
}

/** Ends changes in doubt as far as a list has proved what became of them, in the transaction that takes the list up. */
@Injectable()
export class Settling {
  constructor(
    private readonly cache: RecordCache,
    private readonly inDoubt: InDoubtChanges,
    private readonly localOnly: LocalOnlyRecords,
    private readonly found: FoundChanges,
  ) {}

  /**
   * @param rows the cache before @param steps what the list did to it; what is done here is added
   * @returns `claims`: the changes that were applied, by the records that they made or changed
   */
  async settle(
    manager: EntityManager,
    domainId: number,
    free: readonly InDoubtChange[],
    verdicts: Verdicts,
    rows: readonly CacheRow[],
    steps: Steps,
  ): Promise<Settled & { claims: Claims }> {
    const applied = await this.rowsOf(manager, domainId, verdicts);
    for (const [change, id] of applied) if (id !== null) await this.own(manager, domainId, id, change, steps);
    const not = [...verdicts].flatMap(([change, verdict]) => (verdict.applied ? [] : [{ change, gone: verdict.gone }]));
    const failed = not.map(({ change }) => change);
    const gone = new Set(not.flatMap((one) => (one.gone ? [one.change.id] : [])));
    if (verdicts.size) await this.inDoubt.settle(manager, domainId, applied, failed, gone);
    const here = await this.localOnly.settle(manager, domainId, free);
    if (here.applied.size + here.failed.length) await this.inDoubt.settle(manager, domainId, here.applied, here.failed);
    const own = claimsOf(here.applied);
    await this.found.addOwn(manager, domainId, rows, [...own.keys()], steps);
    const claims = new Map([...claimsOf(applied), ...own]);
    return { applied: applied.size + here.applied.size, failed: failed.length + here.failed.length, claims };
  }

  private async rowsOf(manager: EntityManager, domainId: number, verdicts: Verdicts): Promise<Applied> {
    const remoteIds = [...verdicts.values()].flatMap((verdict) => (verdict.applied && verdict.remoteId) || []);
    const ids = await this.cache.idsOf(manager, domainId, remoteIds);
    const applied: Applied = new Map();
    for (const [change, verdict] of verdicts) {
      if (!verdict.applied) continue;
      const id = verdict.remoteId === null ? change.record_id : (ids.get(verdict.remoteId) ?? change.record_id);
      applied.set(change, id);
    }
    return applied;
  }

  /** What of a record no list of a provider contains. */
  private async own(
    manager: EntityManager,
    domainId: number,
    id: number,
    { own }: InDoubtChange,
    steps: Steps,
  ): Promise<void> {
    const noted = own && (await this.cache.own(manager, domainId, id, own));
    if (!noted) return;
    const { before = noted.before, after = noted.before } = steps.get(id) ?? {};
    const { remark } = noted.after;
    steps.set(id, { recordId: id, before, after: after && { ...after, remark, ...endOf(noted.after) } });
  }
}

/** Of several sets that changed a record the last one has it. */
function claimsOf(applied: Applied): Claims {
  const claims = new Map<number, { first: InDoubtChange; last: InDoubtChange }>();
  for (const [change, made] of applied) {
    const id = made ?? change.record_id;
    if (id === null) continue;
    const known = claims.get(id);
    const isSame = known?.last.change_set_id === change.change_set_id;
    claims.set(id, { first: isSame ? known.first : change, last: change });
  }
  return claims;
}
