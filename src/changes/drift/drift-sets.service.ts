import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Maker } from '../../access/maker.js';
import { contentOf } from '../../cache/drift.js';
import type { CacheRow } from '../../cache/reconcile.js';
import { RecordCache } from '../../cache/record-cache.js';
import { changeRulesOf, type Drift } from '../../domains/change-rules/change-rules.js';
import { anyOf } from '../../domains/change-rules/scope.js';
import { DomainChanges } from '../../domains/domain-changes.service.js';
import type { DomainRow } from '../../domains/domain-policy.js';
import { DomainStateRepository } from '../../domains/domain-state.repository.js';
import { now } from '../../platform/common/clock.js';
import { due, sifted, turn } from '../../platform/common/turns.js';
import type { Door } from '../history/change-set.entity.js';
import type { Step } from '../history/versions.js';
import { DriftRevertsRepository } from './drift-reverts.repository.js';
import { DriftSetsRepository, nameOf, type SetName, type StoredSet, setOf } from './drift-sets.repository.js';

/** sets that are read at once */
const BATCH = 500;

type Row = NonNullable<Step['before']>;
type Touched = Pick<Step, 'before' | 'after'>;

/** What a synchronisation found of a zone. */
export interface Found {
  /** the cache before it */
  rows: readonly CacheRow[];
  /** what somebody made of records at the provider */
  foreign: readonly Step[];
  /** what lists of changes had made of records, by the doors of these */
  own: ReadonlyMap<Door, readonly Step[]>;
  /** names that were changed through other domains of the zone */
  elsewhere: ReadonlySet<string>;
  /** names that the service is changing itself, or may have changed */
  except: ReadonlySet<string>;
}

/**
 * What is wanted of records, beside the cache, which follows the provider: of each set that somebody changed there what
 * it held before, until it holds that again, or a change of ours makes something else wanted. For domains whose drift
 * is not adopted.
 */
@Injectable()
export class DriftSets implements OnModuleInit {
  constructor(
    private readonly sets: DriftSetsRepository,
    private readonly reverts: DriftRevertsRepository,
    private readonly cache: RecordCache,
    private readonly state: DomainStateRepository,
    private readonly domains: DomainChanges,
  ) {}

  onModuleInit(): void {
    this.domains.driftChangesBy((...change) => this.changeRules(...change));
  }

  /**
   * Keeps what is wanted of the sets that a synchronisation found changed, in its transaction, which has locked the
   * domain's row.
   */
  async found(
    manager: EntityManager,
    domain: DomainRow,
    { rows, foreign, own, elsewhere, except }: Found,
  ): Promise<void> {
    for (const [door, steps] of own) await this.written(manager, domain.id, door, steps);
    const touched = setsOf(foreign);
    const there = touched.filter(({ host }) => elsewhere.has(host));
    await this.sets.drop(domain.id, there, manager);
    const change_rules = await this.state.changeRules(domain.id, manager);
    const { mode, ignore } = changeRulesOf({ change_rules }).drift;
    if (mode === 'adopt') return;
    const ignored = anyOf(ignore);
    const ours = new Set([...there, ...[...own.values()].flatMap(setsOf)].map(nameOf));
    const isTheirs = (set: SetName) => !ours.has(nameOf(set)) && !except.has(set.host) && !ignored(set);
    const { before, after } = await statesOf(rows, foreign, await sifted(touched, isTheirs));
    const known = new Map((await this.sets.those(domain.id, [...before.keys()].map(setOf), manager)).map(named));
    const fresh = [...before].filter(([name, was]) => !known.has(name) && !alike(was, after.get(name) as Row[]));
    const kept = fresh.map(([name, wanted]) => ({ ...setOf(name), wanted }));
    await this.sets.insert(domain.id, kept, now(), manager);
    const moved = [...known.values()];
    const wanted = await this.sets.wanted(
      moved.map(({ id }) => id),
      manager,
    );
    const isBack = (set: StoredSet) =>
      alike(
        (wanted.get(set.id) ?? []).map(({ state }) => state),
        after.get(nameOf(set)) as Row[],
      );
    await this.sets.drop(domain.id, moved.filter(isBack), manager);
    await this.sets.renew(
      moved.map(({ id }) => id),
      manager,
    );
  }

  /**
   * What a list of changes wrote is wanted from now on. One that takes drift back ends only what it has brought back.
   */
  async written(manager: EntityManager, domainId: number, door: Door, steps: readonly Touched[]): Promise<void> {
    const touched = setsOf(steps);
    if (door !== 'drift') return this.sets.drop(domainId, touched, manager);
    const known = await this.sets.those(domainId, touched, manager);
    if (!known.length) return;
    const wanted = await this.sets.wanted(
      known.map(({ id }) => id),
      manager,
    );
    const held = await this.held(domainId, known, manager);
    const isBack = (set: StoredSet) =>
      alike(
        (wanted.get(set.id) ?? []).map(({ state }) => state),
        held.get(nameOf(set)) ?? [],
      );
    await this.sets.drop(domainId, known.filter(isBack), manager);
  }

  /** What the cache holds of some sets, but what is read-only, by their names. */
  async held(domainId: number, sets: readonly SetName[], manager?: EntityManager): Promise<Map<string, CacheRow[]>> {
    const hosts = [...new Set(sets.map(({ host }) => host))];
    return grouped<CacheRow>(await this.cache.those(domainId, 'host', hosts, manager), sets);
  }

  /** All sets of a domain that differ from what is wanted, a few at a time. */
  async *all(domainId: number, manager?: EntityManager): AsyncGenerator<StoredSet[]> {
    for (let offset = 0; ; offset += BATCH) {
      const page = await this.sets.page(domainId, BATCH, offset, manager);
      if (page.length) yield page;
      if (page.length < BATCH) return;
    }
  }

  /** What becomes of drift was changed, in that transaction. */
  private async changeRules(manager: EntityManager, id: number, was: Drift, is: Drift, maker: Maker): Promise<void> {
    if (was.mode === 'adopt' || is.mode === 'adopt') await this.sets.dropAll(id, manager);
    else {
      const ignored = anyOf(is.ignore);
      const gone: StoredSet[] = [];
      for await (const page of this.all(id, manager)) gone.push(...(await sifted(page, ignored)));
      await this.sets.drop(id, gone, manager);
      await this.sets.release(id, manager);
    }
    if (is.mode === 'revert') await this.reverts.begin(id, maker, now(), manager);
    else await this.reverts.end(id, manager);
  }
}

const named = (set: StoredSet): [string, StoredSet] => [nameOf(set), set];

/** The sets that some steps touch, but what nobody here can change. */
function setsOf(steps: readonly Touched[]): SetName[] {
  const sets = new Map<string, SetName>();
  for (const { before, after } of steps)
    for (const state of [before, after])
      if (state && state.type !== 'SOA' && !state.read_only)
        sets.set(nameOf(state), { host: state.host, type: state.type });
  return [...sets.values()];
}

/** What some sets held before a synchronisation, and hold after it, by their names. */
async function statesOf(rows: readonly CacheRow[], steps: readonly Step[], sets: readonly SetName[]) {
  const stepped = new Set(steps.map(({ recordId }) => recordId));
  const before = await grouped(rows, sets);
  const left = [...before.values()].flat().filter(({ id }) => !stepped.has(id));
  const after = await grouped<Row>([...left, ...steps.flatMap(({ after: state }) => state ?? [])], sets);
  return { before, after };
}

/** Records of some sets by the names of these, but what is read-only. */
async function grouped<T extends Row>(rows: readonly T[], sets: readonly SetName[]): Promise<Map<string, T[]>> {
  const groups = new Map<string, T[]>(sets.map((set) => [nameOf(set), []]));
  for (const row of sets.length ? rows : []) {
    if (due()) await turn();
    if (!row.read_only) groups.get(nameOf(row))?.push(row);
  }
  return groups;
}

/** Whether two lists of records are the same to people. */
export function alike(a: readonly Omit<Row, 'id'>[], b: readonly Omit<Row, 'id'>[]): boolean {
  if (a.length !== b.length) return false;
  const others = b.map(contentOf).toSorted();
  return a
    .map(contentOf)
    .toSorted()
    .every((content, i) => content === others[i]);
}
