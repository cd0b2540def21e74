import { groupByHost } from '../../../dns/group-by-host.js';
import { type DnsRecord, recordKey } from '../../../dns/record.js';
import type { Change, DnsProvider, Outcome, RemoteZone } from '../../provider.js';
import { timeIsOver, withinDeadline } from '../http/deadline-context.js';
import { NotBegun } from '../http/errors.js';
import { endsList, failed, notTried } from './outcomes.js';

/** What a change touches: the record that it makes, and the record as it was. */
export function touched(change: Change): DnsRecord[] {
  if (change.op === 'create') return [change.after];
  return change.op === 'delete' ? [change.before] : [change.after, change.before];
}

/** Positions of the changes, grouped: those of one host, or of hosts between which a record moves, are one group. */
export const tied = (changes: readonly Change[]): number[][] =>
  groupByHost([...changes.keys()], (i) => touched(changes[i] as Change).map(({ host }) => host));

/**
 * Positions of the changes, grouped as in `tied`, deletions first within a group, else in their order: but a change
 * that needs the place of another record comes after the change that removes, alters or moves that record.
 */
export function byHost(changes: readonly Change[]): number[][] {
  const rank = (i: number) => (changes[i]?.op === 'delete' ? 0 : 1);
  const leaving = new Map<string, number[]>();
  for (const [i, change] of changes.entries()) {
    if (change.op === 'create') continue;
    const { before } = change;
    for (const place of [before.host, `${before.host} ${before.type}`, recordKey(before)]) {
      const known = leaving.get(place);
      if (known) known.push(i);
      else leaving.set(place, [i]);
    }
  }
  /** The changes whose records are in the way of a change: an equal record, or any beside a CNAME. */
  const before = (change: Change): number[] => {
    if (change.op === 'delete') return [];
    const { after } = change;
    if (after.type === 'CNAME') return leaving.get(after.host) ?? [];
    return [...(leaving.get(`${after.host} CNAME`) ?? []), ...(leaving.get(recordKey(after)) ?? [])];
  };
  return tied(changes).map((list) => {
    const ordered: number[] = [];
    const met = new Set<number>();
    const visit = (i: number): void => {
      if (met.has(i)) return;
      met.add(i);
      for (const other of before(changes[i] as Change)) visit(other);
      ordered.push(i);
    };
    for (const i of list.toSorted((a, b) => rank(a) - rank(b))) visit(i);
    return ordered;
  });
}

/** Lists of at most `size` positions; groups that fit are not split. */
function chunksOf(changes: readonly Change[], size: number): number[][] {
  const chunks: number[][] = [];
  let chunk: number[] = [];
  for (const host of byHost(changes)) {
    if (chunk.length + host.length > size && chunk.length) {
      chunks.push(chunk);
      chunk = [];
    }
    chunk.push(...host);
    while (chunk.length > size) chunks.push(chunk.splice(0, size));
  }
  return chunk.length ? [...chunks, chunk] : chunks;
}

/**
 * `apply` for lists of any length: sorts the changes so that they can be carried out, and sends lists of at most `size`
 * one after the other, until the deadline or a failure that the next list would meet as well.
 * @param whole the provider carries out a list whole or not at all: an atomic one is never cut, but refused
 */
export function inChunks(apply: DnsProvider['apply'], size: number, whole = false): DnsProvider['apply'] {
  return (zone: RemoteZone, changes, options = {}) =>
    withinDeadline(
      options.deadline,
      async () => {
        if (options.atomic && whole && changes.length > size) return changes.map(() => failed(tooLong(changes, size)));
        return inTurn(changes, chunksOf(changes, size), (list) => apply(zone, list, options), options.atomic);
      },
      options.heldUntil,
    );
}

/**
 * Carries out parts of a list, each given by its positions, one after the other: what comes behind the deadline, or a
 * failure that ends the list, is not tried.
 */
export async function inTurn(
  changes: readonly Change[],
  parts: readonly number[][],
  carryOut: (list: Change[]) => Promise<Outcome[]>,
  atomic = false,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = new Array(changes.length);
  let stop: Outcome | undefined;
  for (const part of parts) {
    if (timeIsOver()) stop ??= notTried();
    const done = stop ? part.map(() => stop as Outcome) : await carryOut(part.map((i) => changes[i] as Change));
    for (const [at, i] of part.entries()) outcomes[i] = done[at] as Outcome;
    stop ??= stopAfter(done, atomic);
  }
  return outcomes;
}

/** The outcome of all that follows in a list: undefined where it goes on. */
function stopAfter(outcomes: readonly Outcome[], atomic: boolean): Outcome | undefined {
  const end = outcomes.find((outcome) => endsList(outcome, atomic));
  return end && !end.ok && end.tried ? notTried(end.error) : end;
}

const tooLong = ({ length }: readonly Change[], size: number) =>
  new NotBegun('rejected', `The provider carries out ${size} changes at most whole or not at all, not ${length}`);
