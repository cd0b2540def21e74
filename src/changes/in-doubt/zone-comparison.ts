import type { EntityManager } from 'typeorm';
import { type CacheRow, type Difference, difference, remoteOf, Sieve } from '../../cache/reconcile.js';
import type { RecordCache } from '../../cache/record-cache.js';
import type { RemoteRecord } from '../../dns/record.js';
import { due, turn } from '../../platform/common/turns.js';

/** records of a list that are compared with their rows at once */
const PIECE = 1000;

/** A list of the provider beside the cache. */
export interface ZoneComparison {
  /** all records and all rows are here; else those alone that are not the same in both */
  isWhole: boolean;
  records(): readonly RemoteRecord[];
  rows: readonly CacheRow[];
  /** how many rows besides these say what the provider says */
  same: number;
  /** how they differ, as long as nothing is in doubt */
  plain: Difference;
}

type Pieces = AsyncIterable<readonly RemoteRecord[]>;

/** Reads a list of the provider to its end, keeps all of it for what is in doubt, and compares it with all rows. */
export async function compareWhole(cache: RecordCache, domainId: number, pieces: Pieces): Promise<ZoneComparison> {
  const all: RemoteRecord[] = [];
  for await (const piece of pieces) for (const record of piece) all.push(record);
  const rows = await cache.following(domainId);
  return { isWhole: true, records: () => all, rows, same: 0, plain: await difference(rows, all) };
}

/**
 * The same where nothing is in doubt: what is the same in both is let go at once. Rows of names that are changed
 * meanwhile may be old: whoever takes the comparison up leaves these names out.
 */
export async function compareSifted(cache: RecordCache, domainId: number, pieces: Pieces): Promise<ZoneComparison> {
  const sieve = new Sieve();
  const isEmpty = !(await cache.ids(domainId).next()).value?.length;
  for await (const part of cut(pieces)) {
    const ids = isEmpty ? [] : part.map(({ remoteId }) => remoteId);
    sieve.take(part, await cache.followingOf(domainId, 'remote_id', ids));
    if (due()) await turn();
  }
  const rows = await rowsBut(sieve.same, cache, domainId);
  const left = sieve.rows();
  const same = sieve.same.size;
  // made when they are needed: of the first list of a zone there are as many as it has
  const records = () => left.map(remoteOf);
  const plain = rows.length ? await difference(rows, records()) : { insert: left, update: [], remove: [] };
  return { isWhole: false, records, rows, same, plain };
}

async function* cut(pieces: Pieces): AsyncGenerator<readonly RemoteRecord[]> {
  for await (const piece of pieces)
    for (let i = 0; i < piece.length; i += PIECE) yield piece.length > PIECE ? piece.slice(i, i + PIECE) : piece;
}

async function rowsBut(some: ReadonlySet<number>, cache: RecordCache, domainId: number): Promise<CacheRow[]> {
  const left: number[] = [];
  for await (const ids of cache.ids(domainId)) for (const id of ids) if (!some.has(id)) left.push(id);
  return cache.followingOf(domainId, 'id', left);
}

/** The rows of a comparison as they are now, with those that have come to one of its records. */
export async function rowsNow(
  cache: RecordCache,
  domainId: number,
  { isWhole, rows, records }: ZoneComparison,
  manager: EntityManager,
): Promise<CacheRow[]> {
  if (isWhole) return cache.following(domainId, manager);
  const known = rows.map(({ id }) => id);
  const remoteIds = records().map(({ remoteId }) => remoteId);
  const found = [
    ...(await cache.followingOf(domainId, 'id', known, manager)),
    ...(await cache.followingOf(domainId, 'remote_id', remoteIds, manager)),
  ];
  return [...new Map(found.map((row) => [row.id, row])).values()];
}

/** The names at which a difference changes anything. */
export const hostsIn = ({ insert, update, remove }: Difference): ReadonlySet<string> =>
  new Set([...insert, ...remove, ...update, ...update.map(({ values }) => values)].map(({ host }) => host));
