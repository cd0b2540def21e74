import { groupByHost } from '../../../dns/group-by-host.js';
import { recordKey } from '../../../dns/record.js';
import type { Change, DnsProvider, Outcome, RemoteZone } from '../../provider.js';
import { timeIsOver, withinDeadline } from '../http/deadline-context.js';
import { NotBegun } from '../http/errors.js';
import { endsList, failed, notTried } from './outcomes.js';

/** The hosts that a change touches: two where it moves a record. */
const hostsOf = (change: Change): string[] => [
  ...new Set([
    ...(change.op === 'create' ? [] : [change.before.host]),
    ...(change.op === 'delete' ? [] : [change.after.host]),
  ]),
];

/** Positions of the changes, grouped: those of one host, or of hosts between which a record moves, are one group. */
export const tied = (changes: readonly Change[]): number[][] =>
  groupByHost([...changes.keys()], (i) => hostsOf(changes[i] as Change));

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
        const outcomes: Outcome[] = new Array(changes.length);
        let stop: Outcome | undefined;
        for (const chunk of chunksOf(changes, size)) {
          if (timeIsOver()) stop ??= notTried();
          const list = chunk.map((i) => changes[i] as Change);
          const part = stop ? chunk.map(() => stop as Outcome) : await apply(zone, list, options);
          for (const [at, i] of chunk.entries()) outcomes[i] = part[at] as Outcome;
          const end = stop ?? part.find((o) => !o.ok && (options.atomic || endsList(o.error)));
          if (end && !end.ok) stop ??= end.tried ? notTried(end.error) : end;
        }
        return outcomes;
      },
      options.heldUntil,
    );
}

const tooLong = ({ length }: readonly Change[], size: number) =>
  new NotBegun('rejected', `The provider carries out ${size} changes at most whole or not at all, not ${length}`);
