import { groupByHost } from '../dns/group-by-host.js';
import type { Net } from './edits/working-copy.js';
import type { RecordChange } from './in-doubt/change-set.entity.js';
import { hostsOf } from './in-doubt/evidence.js';

/** Deletions first, so that what replaces a record does not meet it. */
const ORDER = { delete: 0, update: 1, create: 2 };
const rank = ({ change }: Net): number => (change ? ORDER[change.op] : 3);

/**
 * A list in pieces of about `size` that are carried out and committed one after the other. What touches one name stays
 * together, and with it what a rename ties to that name, so that no name is left half changed between two pieces; a
 * piece is only larger where one such group is.
 */
export function chunksOf(nets: readonly Net[], size: number): Net[][] {
  const chunks: Net[][] = [];
  let chunk: Net[] = [];
  const hosts = ({ before, after }: Net) => [before?.host, after?.host].filter((host) => host !== undefined);
  for (const group of groupByHost(nets, hosts)) {
    if (chunk.length && chunk.length + group.length > size) {
      chunks.push(chunk);
      chunk = [];
    }
    chunk.push(...group);
  }
  if (chunk.length) chunks.push(chunk);
  return chunks.map((list) => list.toSorted((a, b) => rank(a) - rank(b)));
}

/** Stored changes in pieces of at most so many, and of at most so many names where these are tied by nothing. */
export function piecesOf<T extends Pick<RecordChange, 'host' | 'host_before'>>(
  changes: readonly T[],
  size: number,
  names: number,
): T[][] {
  const pieces: T[][] = [];
  let at = new Set<string>();
  for (const group of groupByHost(changes, hostsOf)) {
    const more = group.flatMap(hostsOf);
    const piece = pieces.at(-1);
    const together = new Set([...at, ...more]);
    if (piece && piece.length + group.length <= size && together.size <= names) {
      piece.push(...group);
      at = together;
    } else {
      pieces.push(group);
      at = new Set(more);
    }
  }
  return pieces;
}
