import type { Change, DnsProvider, Outcome, RemoteZone } from './provider.js';
import { endsList, notTried, timeIsOver, work } from './work.js';

/** The host that a change leaves alone last: that of the record which it makes, or takes away. */
export const hostOf = (change: Change): string => (change.op === 'delete' ? change.before.host : change.after.host);

/**
 * Positions of the changes, those of one host together, and of each host deletions first, else in their order: what
 * takes another record's place comes after that one has gone.
 */
export function byHost(changes: readonly Change[]): number[][] {
  const hosts = new Map<string, number[]>();
  for (const [i, change] of changes.entries()) {
    const known = hosts.get(hostOf(change));
    if (known) known.push(i);
    else hosts.set(hostOf(change), [i]);
  }
  const rank = (i: number) => (changes[i]?.op === 'delete' ? 0 : 1);
  return [...hosts.values()].map((list) => list.toSorted((a, b) => rank(a) - rank(b)));
}

/** Lists of at most `size` positions, hosts whole where they fit. */
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
 * `apply` for lists of any length, in an order in which they can be carried out: one list of at most `size` changes
 * after the other, until the deadline, or until a provider that fails would fail again.
 */
export function inChunks(apply: DnsProvider['apply'], size: number): DnsProvider['apply'] {
  return (zone: RemoteZone, changes, options = {}) =>
    work(options.deadline, async () => {
      const outcomes: Outcome[] = new Array(changes.length);
      let stop: Outcome | undefined;
      for (const chunk of chunksOf(changes, size)) {
        if (timeIsOver()) stop ??= notTried();
        const list = chunk.map((i) => changes[i] as Change);
        const part = stop ? chunk.map(() => stop as Outcome) : await apply(zone, list, options);
        for (const [at, i] of chunk.entries()) outcomes[i] = part[at] as Outcome;
        const end = stop ?? part.find((o) => !o.ok && endsList(o.error));
        if (end && !end.ok) stop ??= end.tried ? notTried(end.error) : end;
      }
      return outcomes;
    });
}
