import type { DnsRecord } from '../../../dns/record.js';
import type { Apply, ApplyOptions, Change, Outcome, RemoteZone } from '../../provider.js';
import { reading, timeIsOver, withinDeadline } from '../http/deadline-context.js';
import { asProviderError, ProviderError } from '../http/errors.js';
import { tied } from '../records/chunks.js';
import { endsList, failed, notTried } from '../records/outcomes.js';
import { keyText, type RecordSet, type SetKey } from './record-set.js';
import { refusing } from './refusing.js';
import { keysOf, recordsOf, SetEdit } from './set-edit.js';
import { partOf, type SetResult, writeEach } from './set-write.js';

/** The verbs of a vendor that reads and replaces whole record sets; it has one of the two that write. */
export interface RrsetVerbs {
  /**
   * The sets as the provider holds them at this moment (no cache), one for each key, in their order, without members
   * where one is absent. @throws ProviderError
   */
  readSets(zone: RemoteZone, keys: SetKey[]): Promise<RecordSet[]>;
  /**
   * Replaces the sets, all or none; sets that are emptied come first. Vendors that can make the write conditional on
   * what was read do so and return false when that has changed. Vendors that accept a write and leave something out
   * return the sets that are not as they were written. @throws ProviderError
   */
  replaceSets?(zone: RemoteZone, sets: RecordSet[], was: RecordSet[]): Promise<boolean | RecordSet[]>;
  /** Replaces one set, for vendors without an atomic write of several. @throws ProviderError */
  replaceSet?(zone: RemoteZone, set: RecordSet, was: RecordSet): Promise<boolean>;
  /** Throws for what the vendor cannot hold (see `refusing`), best `NotBegun`. */
  judge?(record: DnsRecord): void;
}

const ATTEMPTS = 5;

/**
 * `apply` for vendors that replace whole sets: reads all touched sets at once, changes the members, and writes the sets
 * back, siblings and disabled members included. Callers hold the lock of every name that is touched. When the provider
 * refuses a write of several changes, each half of them is tried alone, so that the refused one does not take the
 * others with it: but never a part of what is tied by its hosts, since what goes there may make room for what comes,
 * and nothing of a list that is atomic.
 */
export function fromRrsets(verbs: RrsetVerbs): Apply {
  async function attempt(zone: RemoteZone, changes: Change[], bounds: Bounds): Promise<Outcome[]> {
    const outcomes: Outcome[] = new Array(changes.length);
    let written = false;
    let left = [...changes.keys()];
    for (let round = 1; left.length; round++) {
      try {
        const results = await once(verbs, zone, changes, { left, outcomes, ...bounds });
        written ||= [...results.values()].includes('written');
        left = left.filter((i) => settle(changes[i] as Change, i, outcomes, results));
      } catch (error) {
        // changes that were written are not reported as failed
        if (!written) throw error;
        for (const i of left) outcomes[i] = failed(asProviderError(error));
        return outcomes;
      }
      if (round < ATTEMPTS) continue;
      const words = 'The record set kept changing at the provider; try again';
      for (const i of left) outcomes[i] = failed(new ProviderError('unavailable', words, false));
      return outcomes;
    }
    return outcomes;
  }

  async function halving(zone: RemoteZone, changes: Change[], bounds: Bounds, doubt: boolean): Promise<Outcome[]> {
    try {
      return doubted(await withinDeadline(undefined, () => attempt(zone, changes, bounds)), doubt);
    } catch (error) {
      const failure = asProviderError(error);
      const unclear = doubt || failure.mayHaveApplied;
      const halves = failure.kind === 'rejected' && !bounds.atomic && halvesOf(changes);
      if (!halves) return changes.map(() => failed(unclear ? failure.applied(true) : failure));
      const outcomes: Outcome[] = new Array(changes.length);
      let stop: Outcome | undefined;
      for (const half of halves) {
        if (timeIsOver()) stop ??= notTried();
        const list = half.map((i) => changes[i] as Change);
        const part = stop
          ? doubted(new Array<Outcome>(half.length).fill(stop), unclear)
          : await halving(zone, list, bounds, unclear);
        for (const [at, i] of half.entries()) outcomes[i] = part[at] as Outcome;
        const end = part.find((o) => !o.ok && endsList(o.error));
        if (end && !end.ok) stop ??= end.tried ? notTried(end.error) : end;
      }
      return outcomes;
    }
  }

  const apply: Apply = (zone, changes, { deadline, atomic = false, only } = {}) =>
    withinDeadline(deadline, async () =>
      timeIsOver() ? changes.map(() => notTried()) : halving(zone, changes, { atomic, only }, false),
    );
  const judged = verbs.judge ? refusing((record) => verbs.judge?.(record), apply) : apply;
  return Object.assign(judged, {
    recordsAt: async (zone: RemoteZone, keys: readonly SetKey[]) =>
      (await verbs.readSets(zone, [...keys])).flatMap((set) => recordsOf(set, zone.name)),
  });
}

interface Bounds {
  atomic: boolean;
  only: ApplyOptions['only'];
}

/** The changes of a list that are left, and all outcomes so far. */
interface Round extends Bounds {
  left: number[];
  outcomes: Outcome[];
}

/** Reads the sets of the changes that are left, changes them, and writes them. */
async function once(verbs: RrsetVerbs, zone: RemoteZone, changes: Change[], round: Round) {
  const { left, outcomes, atomic, only } = round;
  const keys = new Map(left.flatMap((i) => keysOf(changes[i] as Change)).map((key) => [keyText(key), key]));
  const read = await reading(() => verbs.readSets(zone, [...keys.values()]));
  const moved = movedOf(read, only);
  const going: number[] = [];
  for (const i of left) {
    if (keysOf(changes[i] as Change).some((key) => moved.has(keyText(key)))) outcomes[i] = failed(changedMeanwhile());
    else going.push(i);
  }
  const list = going.map((i) => changes[i] as Change);
  const edit = new SetEdit(zone, read);
  for (const [at, outcome] of edit.take(list).entries()) outcomes[going[at] as number] = outcome;
  const failure = atomic && left.map((i) => outcomes[i]).find((outcome) => outcome && !outcome.ok);
  if (failure && !failure.ok) {
    for (const i of left) if (outcomes[i]?.ok) outcomes[i] = notTried(failure.error);
    return new Map<string, SetResult>();
  }
  const writes = edit.changed();
  if (writes.length && timeIsOver()) {
    for (const i of left) outcomes[i] = notTried();
    return new Map<string, SetResult>();
  }
  const { replaceSet } = verbs;
  if (!writes.length) return new Map<string, SetResult>();
  if (replaceSet) {
    const again = async (key: SetKey) => (await verbs.readSets(zone, [key]))[0];
    return writeEach(writes, list, (set, was) => replaceSet.call(verbs, zone, set, was), { atomic, read: again });
  }
  const [sets, was] = [writes.map((w) => w.set), writes.map((w) => w.was)];
  const done = await verbs.replaceSets?.(zone, sets, was);
  const result = (set: RecordSet): SetResult => {
    if (Array.isArray(done) && done.includes(set)) return failed(notTaken(set));
    return done ? 'written' : 'changed';
  };
  return new Map(sets.map((set) => [keyText(set), result(set)]));
}

/** Keys of the sets that hold other records than `only` allows. */
function movedOf(read: readonly RecordSet[], only: ApplyOptions['only'] = []): ReadonlySet<string> {
  const judged = new Map(only.map((one) => [keyText(one), one.remoteIds]));
  const moved = read.filter((set) => {
    const remoteIds = judged.get(keyText(set));
    return remoteIds && !holdsJust(set, remoteIds);
  });
  return new Set(moved.map(keyText));
}

const changedMeanwhile = () =>
  new ProviderError('changed', 'The record set was changed at the provider since it was read', false);

const holdsJust = ({ members }: RecordSet, remoteIds: readonly string[]): boolean =>
  members.length === remoteIds.length && members.every(({ remoteId }) => remoteIds.includes(remoteId));

const notTaken = ({ type, host }: RecordSet) =>
  new ProviderError('rejected', `The provider took the change, but holds ${type} ${host} otherwise than written`, true);

/** Makes the outcome of a change from the results of its sets. @returns whether it has to be tried once more */
function settle(change: Change, i: number, outcomes: Outcome[], results: Map<string, SetResult>): boolean {
  if (!outcomes[i]?.ok) return false;
  const parts = keysOf(change).map((key) => results.get(keyText(key)) ?? 'same');
  const failure = parts.find((part) => typeof part !== 'string');
  if (failure) outcomes[i] = partOf(failure, parts.includes('written'));
  return !failure && parts.includes('changed');
}

/** Marks failures as `mayHaveApplied` where an earlier attempt may have been carried out. */
function doubted(outcomes: Outcome[], unclear: boolean): Outcome[] {
  if (!unclear) return outcomes;
  return outcomes.map((o) => (o.ok ? o : { ok: false, error: o.error.applied(true), tried: true }));
}

/** Splits a list near its middle without splitting groups (see `tied`); null where it is one group. */
function halvesOf(changes: readonly Change[]): [number[], number[]] | null {
  const pieces = tied(changes);
  if (pieces.length < 2) return null;
  const head: number[] = [...(pieces.shift() ?? [])];
  while (pieces.length > 1 && head.length + (pieces[0]?.length ?? 0) / 2 <= changes.length / 2) {
    head.push(...(pieces.shift() ?? []));
  }
  return [head, pieces.flat()];
}
