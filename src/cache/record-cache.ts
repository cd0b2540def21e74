import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { DomainStateRepository } from '../domains/domain-state.repository.js';
import { now } from '../platform/common/clock.js';
import type { SqlValue } from '../platform/database/db.js';
import { type Counted, DnsRecordsRepository, type StoredRecord } from './dns-records.repository.js';
import { type CacheRow, type Difference, endAlike, endOf, type RecordEnd, type RowValues } from './reconcile.js';
import { RecordCountsRepository } from './record-counts.repository.js';

export { rowOfRecord, type StoredRecord } from './dns-records.repository.js';

/** What becomes of a row: of the one with this id, which need not be there any more, or of a new one. */
export interface Written {
  id: number | null;
  row: RowValues & { remark: string };
}

/** What only we know of a record, where its provider keeps no remarks. */
export type Own = Partial<RecordEnd> & { remark: string };

/** The table of cached records. Nothing here asks who may, or talks to a provider. */
@Injectable()
export class RecordCache {
  constructor(
    private readonly rows: DnsRecordsRepository,
    private readonly counts: RecordCountsRepository,
    private readonly state: DomainStateRepository,
  ) {}

  one(domainId: number, id: number): Promise<StoredRecord | null> {
    return this.rows.one(domainId, id);
  }

  /** Rows of a domain at some hosts, or with some ids, in the order of their ids. */
  those(
    domainId: number,
    column: 'host' | 'id',
    values: readonly SqlValue[],
    manager?: EntityManager,
  ): Promise<StoredRecord[]> {
    return this.rows.those(domainId, column, values, manager);
  }

  /** Rows of a domain of some types whose values end in one of some names, in the order of their ids. */
  endingIn(domainId: number, types: readonly string[], names: readonly string[]): Promise<StoredRecord[]> {
    return this.rows.endingIn(domainId, types, names);
  }

  /** Rows of a domain at some hosts, and all at the hosts of the rows with some ids, in the order of their ids. */
  around(domainId: number, hosts: readonly string[], ids: readonly number[]): Promise<StoredRecord[]> {
    return this.rows.around(domainId, hosts, ids);
  }

  /** All rows of a domain with what is compared with the provider, or part of versions: of a large zone no more. */
  following(domainId: number, manager?: EntityManager): Promise<CacheRow[]> {
    return this.rows.following(domainId, manager);
  }

  /** The same of rows with some ids, or some ids of the provider. */
  followingOf(
    domainId: number,
    column: 'id' | 'remote_id',
    values: readonly SqlValue[],
    manager?: EntityManager,
  ): Promise<CacheRow[]> {
    return this.rows.followingOf(domainId, column, values, manager);
  }

  /** The ids of the rows of a domain, in pieces. */
  ids(domainId: number): AsyncGenerator<number[]> {
    return this.rows.ids(domainId);
  }

  /**
   * Writes what records became, and keeps the counts by what was there: a row that a synchronisation removed meanwhile
   * comes back under its id, and one that has the provider's id already, stale, gives way or becomes the record. The
   * transaction has locked the domain's row, so that nobody else changes its rows.
   * @param at when the rows were written
   * @returns the ids of the rows, in the order of `list`
   */
  async write(manager: EntityManager, domainId: number, list: readonly Written[], at = now()): Promise<number[]> {
    const wanted = list.flatMap(({ row }) => row.remote_id ?? []);
    const named = list.flatMap(({ id }) => id ?? []);
    const there = await this.rows.counted(manager, domainId, named, wanted);
    const known = new Map(there.map((row) => [row.id, row]));
    const moving = movingOf(list, known);
    await this.rows.unkey(manager, [...moving]);
    const holders = holdersOf(there, moving);
    const fresh = await this.insertFresh(manager, domainId, list, holders, at);
    const ids: number[] = [];
    const by = new Map<string, number>();
    const count = (type: string, more: number) => by.set(type, (by.get(type) ?? 0) + more);
    for (const { id, row } of list) {
      const holder = row.remote_id === null ? undefined : holders.get(row.remote_id);
      count(row.type, 1);
      if (holder && fresh.get(row.remote_id as string) === row) {
        ids.push(holder.id);
        continue;
      }
      const target = id === null ? holder : known.get(id);
      // it is of a record that is no more: the provider has the id for another one
      if (holder && holder.id !== target?.id && (await this.rows.drop(manager, [holder.id]))) count(holder.type, -1);
      if (target) count(target.type, -1);
      const written = await this.put(manager, domainId, target, { id, row }, at);
      known.set(written.id, written);
      if (written.remote_id !== null) holders.set(written.remote_id, written);
      ids.push(written.id);
    }
    await this.count(manager, domainId, by);
    return ids;
  }

  /** One row, in the place of the one that is there, if there is one. */
  private async put(
    manager: EntityManager,
    domainId: number,
    target: Counted | undefined,
    { id, row }: Written,
    at: string,
  ): Promise<Counted> {
    if (target) await this.rows.update(manager, target.id, row, at);
    const written = target?.id ?? (await this.rows.add(manager, domainId, id, row, at));
    return { id: written, type: row.type, remote_id: row.remote_id };
  }

  /** Of many, the new records with an id of the provider, in few statements. They are added to `holders`. */
  private async insertFresh(
    manager: EntityManager,
    domainId: number,
    list: readonly Written[],
    holders: Map<string, Counted>,
    at: string,
  ): Promise<ReadonlyMap<string, Written['row']>> {
    const fresh = new Map<string, Written['row']>();
    if (list.length === 1) return fresh;
    for (const { id, row } of list) {
      const { remote_id } = row;
      if (id === null && remote_id !== null && !holders.has(remote_id) && !fresh.has(remote_id))
        fresh.set(remote_id, row);
    }
    await this.rows.insert(manager, domainId, [...fresh.values()], at);
    for (const row of await this.rows.counted(manager, domainId, [], [...fresh.keys()]))
      holders.set(row.remote_id as string, row);
    return fresh;
  }

  /** Removes rows, and keeps the counts by those that were there. As `write`. @returns how many were */
  async remove(manager: EntityManager, domainId: number, ids: readonly number[]): Promise<number> {
    const by = new Map<string, number>();
    const there = await this.rows.counted(manager, domainId, ids);
    for (const { type } of there) by.set(type, (by.get(type) ?? 0) - 1);
    await this.rows.drop(
      manager,
      there.map((row) => row.id),
    );
    await this.count(manager, domainId, by);
    return there.length;
  }

  /** Marks rows that a change in doubt touches, or takes the mark away. @returns how many there are */
  markPending(manager: EntityManager, domainId: number, ids: readonly number[], pending = true): Promise<number> {
    return this.rows.markPending(manager, domainId, ids, pending);
  }

  /** The ids of the rows that have these ids of the provider. */
  async idsOf(manager: EntityManager, domainId: number, remoteIds: readonly string[]): Promise<Map<string, number>> {
    const rows = await this.rows.counted(manager, domainId, [], remoteIds);
    return new Map(rows.map((row) => [row.remote_id as string, row.id]));
  }

  /**
   * Gives a row its remark and its end, unless somebody gave it others meanwhile.
   * @returns the row before and after; null: it stays
   */
  async own(
    manager: EntityManager,
    domainId: number,
    id: number,
    { from, to }: { from: Own; to: Own },
  ): Promise<{ before: StoredRecord; after: StoredRecord } | null> {
    const before = await this.rows.one(domainId, id, manager);
    if (!before) return null;
    const after = {
      ...before,
      ...(before.remark === from.remark && { remark: to.remark }),
      ...(endAlike(before, from) && !endAlike(from, to) && endOf(to)),
    };
    if (after.remark === before.remark && endAlike(after, before)) return null;
    await this.rows.own(manager, after);
    return { before, after };
  }

  /** How many records of some types a domain has. */
  countOf(domainId: number, types: readonly string[]): Promise<number> {
    return this.counts.of(domainId, types);
  }

  /**
   * Where the TTL belongs to the set, all its values have the same; what is kept here is not in it.
   * @returns the rows that had another one, as they were
   */
  alignTtl(
    manager: EntityManager,
    domainId: number,
    set: Pick<RowValues, 'host' | 'type' | 'line' | 'ttl'>,
  ): Promise<StoredRecord[]> {
    return this.rows.alignTtl(manager, domainId, set);
  }

  /** Makes the rows equal to the provider's list, without the hosts of `except`. @returns what was done of it */
  async apply(
    manager: EntityManager,
    domainId: number,
    { insert, update, remove }: Difference,
    except: ReadonlySet<string>,
  ): Promise<Difference> {
    const free = <T extends { host: string }>(list: T[]) =>
      except.size ? list.filter((r) => !except.has(r.host)) : list;
    const gone = free(remove);
    const changed = free(update).filter((u) => !except.has(u.values.host));
    const added = free(insert);
    // removed first: a record that the provider gave a new id may carry one that an old row still has
    await this.rows.drop(
      manager,
      gone.map((r) => r.id),
    );
    await this.rows.unkey(
      manager,
      changed.filter((u) => u.rekeyed).map((u) => u.id),
    );
    for (const { id, values: row } of changed) await this.rows.update(manager, id, row);
    await this.rows.insert(manager, domainId, added);
    if (gone.length + changed.length + added.length)
      await this.state.setRecords(domainId, await this.counts.recount(domainId, manager), manager);
    return { insert: added, update: changed, remove: gone };
  }

  /** So many more records of each type, or fewer. The transaction has locked the domain's row. */
  private async count(manager: EntityManager, domainId: number, by: ReadonlyMap<string, number>): Promise<void> {
    const all = [...by.values()].reduce((sum, more) => sum + more, 0);
    if (all) await this.state.addRecords(domainId, all, manager);
    for (const [type, more] of by) if (more) await this.counts.add(domainId, type, more, manager);
  }
}

/** Rows by the provider's ids of them, without those that get others. */
function holdersOf(there: readonly Counted[], moving: ReadonlySet<number>): Map<string, Counted> {
  const holders = new Map<string, Counted>();
  for (const row of there) if (row.remote_id !== null && !moving.has(row.id)) holders.set(row.remote_id, row);
  return holders;
}

/** The rows of a list that get another id of the provider, which another one of it may have still. */
function movingOf(list: readonly Written[], known: ReadonlyMap<number, Counted>): Set<number> {
  const moving = new Set<number>();
  if (list.length === 1) return moving;
  for (const { id, row } of list) if (id !== null && known.get(id)?.remote_id !== row.remote_id) moving.add(id);
  return moving;
}
