import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { CacheRow, Difference } from '../../cache/reconcile.js';
import { RecordCache } from '../../cache/record-cache.js';
import { changeRulesOf } from '../../domains/change-rules/change-rules.js';
import type { DomainRow } from '../../domains/domain-policy.js';
import { SharedZones } from '../../domains/shared-zones.service.js';
import { now } from '../../platform/common/clock.js';
import { due, turn } from '../../platform/common/turns.js';
import { DriftSets } from '../drift/drift-sets.service.js';
import type { Door } from '../history/change-set.entity.js';
import { ChangeSetsRepository, NOBODY } from '../history/change-sets.repository.js';
import type { InDoubtChange } from '../history/in-doubt.repository.js';
import { RecordChangesRepository } from '../history/record-changes.repository.js';
import { storedState } from '../history/states.js';
import { differs, type Step, Versions } from '../history/versions.js';
import { hostsOf } from './evidence.js';

/** ms that the last list of the provider may have been older than the end of its synchronisation */
const LIST_MS = 600_000;

/** What a synchronisation did to records, by their ids. */
export type Steps = Map<number, Step>;

/** The changes of one set that made a step of a record, the first one and the last one, by the record's id. */
export type Claims = ReadonlyMap<number, { first: InDoubtChange; last: InDoubtChange }>;

/**
 * The history of what a synchronisation found: what changes in doubt came to is theirs, all else somebody made at the
 * provider. In the transaction that brought the cache up to date.
 */
@Injectable()
export class FoundChanges {
  constructor(
    private readonly cache: RecordCache,
    private readonly sets: ChangeSetsRepository,
    private readonly changes: RecordChangesRepository,
    private readonly versions: Versions,
    private readonly drift: DriftSets,
    private readonly shared: SharedZones,
  ) {}

  /** @param rows the cache before @param done what was done to it */
  async steps(
    manager: EntityManager,
    { id: domainId, synced_at }: DomainRow,
    rows: readonly CacheRow[],
    { insert, update, remove }: Difference,
  ): Promise<Steps> {
    const steps: Steps = new Map();
    const touched = insert.length + update.length + remove.length;
    // what the first reading finds was made by nobody: it is where versions begin
    if (synced_at === null && (await this.versions.first(manager, domainId, touched))) return steps;
    const wanted = new Set([...update, ...remove].map(({ id }) => id));
    const before = new Map<number, CacheRow>();
    for (const row of rows) {
      if (due()) await turn();
      if (wanted.has(row.id)) before.set(row.id, row);
    }
    const was = (id: number) => before.get(id) ?? null;
    for (const { id } of remove) steps.set(id, { recordId: id, before: was(id), after: null });
    for (const { id, values } of update) steps.set(id, { recordId: id, before: was(id), after: values });
    const ids = await this.cache.idsOf(
      manager,
      domainId,
      insert.flatMap(({ remote_id }) => remote_id ?? []),
    );
    for (const row of insert) {
      const recordId = ids.get(row.remote_id ?? '');
      if (recordId !== undefined) steps.set(recordId, { recordId, before: null, after: { remark: '', ...row } });
    }
    return steps;
  }

  /** Adds what became of records that exist only here, which no list of the provider says. */
  async addOwn(
    manager: EntityManager,
    domainId: number,
    rows: readonly CacheRow[],
    ids: readonly number[],
    steps: Steps,
  ): Promise<void> {
    if (!ids.length) return;
    const now = new Map((await this.cache.those(domainId, 'id', ids, manager)).map((row) => [row.id, row]));
    const wanted = new Set(ids);
    const before = new Map(rows.flatMap((row) => (wanted.has(row.id) ? [[row.id, row] as const] : [])));
    for (const recordId of ids)
      steps.set(recordId, { recordId, before: before.get(recordId) ?? null, after: now.get(recordId) ?? null });
  }

  /**
   * Stores them as versions.
   * @param claims of changes in doubt that were applied
   * @param rows the cache before
   * @param except hosts that the service is changing itself, or may have changed
   */
  async store(
    manager: EntityManager,
    domain: DomainRow,
    steps: Steps,
    claims: Claims,
    rows: readonly CacheRow[],
    except: ReadonlySet<string>,
  ): Promise<void> {
    const foreign: Step[] = [];
    const bySet = new Map<number, Step[]>();
    for (const step of steps.values()) {
      if (due()) await turn();
      if (!differs(step)) continue;
      const set = claims.get(step.recordId)?.last.change_set_id;
      if (set === undefined) foreign.push(step);
      else bySet.set(set, [...(bySet.get(set) ?? []), step]);
    }
    for (const [set, list] of bySet) {
      const version = await this.versions.of(manager, domain.id, set, list);
      for (const { recordId, before, after } of list) {
        const { first, last } = claims.get(recordId) as { first: InDoubtChange; last: InDoubtChange };
        const [state_before, value_before] = storedState(before);
        const [state_after, value_after] = storedState(after);
        await this.changes.cameTo(first.id, { state_before, value_before, version }, manager);
        await this.changes.cameTo(last.id, { state_after, value_after, version }, manager);
      }
    }
    if (foreign.length + bySet.size && changeRulesOf(domain).drift.mode !== 'adopt')
      await this.keepWanted(manager, domain, { rows, foreign, bySet, except });
    if (!foreign.length) return;
    const set = await this.sets.insert(foundSet(domain, foreign.length), manager);
    await this.versions.store(
      manager,
      domain.id,
      set,
      foreign,
      await this.versions.of(manager, domain.id, set, foreign),
      0,
    );
  }

  /** What is wanted of records stays so, whatever others made of them. */
  private async keepWanted(
    manager: EntityManager,
    domain: DomainRow,
    { rows, foreign, bySet, except }: Made,
  ): Promise<void> {
    const own = new Map<Door, Step[]>();
    for (const [set, steps] of bySet) {
      const door = await this.sets.doorOf(set, manager);
      own.set(door, [...(own.get(door) ?? []), ...steps]);
    }
    const { ids } = await this.shared.of(domain.id, manager);
    const elsewhere = new Set<string>();
    const since = new Date(Date.parse(domain.synced_at ?? now()) - LIST_MS).toISOString();
    for (const id of ids)
      if (id !== domain.id)
        for (const change of await this.changes.hostsChangedSince(id, since, manager))
          for (const host of hostsOf(change)) elsewhere.add(host);
    await this.drift.found(manager, domain, { rows, foreign, own, elsewhere, except });
  }
}

/** What a synchronisation found, by who made it. */
interface Made {
  rows: readonly CacheRow[];
  foreign: readonly Step[];
  /** by the number of the change set */
  bySet: ReadonlyMap<number, readonly Step[]>;
  except: ReadonlySet<string>;
}

/** A set of what somebody changed at the provider. */
function foundSet({ id, name }: DomainRow, total: number) {
  const at = now();
  return {
    ...{ domain_id: id, domain: name, door: 'provider', comment: '', atomic: false, background: false, whole: false },
    ...{ actor_type: 'system', user_id: null, username: null, token_id: null, token_name: null, request_id: '' },
    ...{ maker_id: null, maker_token_id: null, hold_reason: null, confirmed_at: null, owner: NOBODY },
    ...{ state: 'done', revision: null, total, created_at: at, finished_at: at },
  };
}
