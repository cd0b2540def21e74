import type { DnsRecord } from '../../../dns/record.js';
import type { Apply, ApplyOptions, Change, DnsProvider, Outcome, RemoteZone } from '../../provider.js';
import { isUnclear, reading, Tries, timeIsOver, withinDeadline } from '../http/deadline-context.js';
import { asProviderError, ProviderError } from '../http/errors.js';
import { inTurn, tied } from '../records/chunks.js';
import { failed, notTried } from '../records/outcomes.js';
import { type PlainSet, recordsIn, setsAt } from './plain-sets.js';
import { keyText, type RecordSet, type SetKey, type SetWrite } from './record-set.js';
import { refusing } from './refusing.js';
import { keysOf, recordsOf, SetEdit } from './set-edit.js';
import { isWritten, partOf, type SetResult, writeEach } from './set-write.js';

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
 * and nothing of a list that is atomic. A write that the provider puts off, or answers so that it stays open, is made
 * anew from another read (see `Tries`): the client repeats none.
 */
export function fromRrsets(verbs: RrsetVerbs): Apply {
  const apply: Apply = (zone, changes, { deadline, atomic = false, only } = {}) =>
    withinDeadline(deadline, async () =>
      timeIsOver() ? changes.map(() => notTried()) : halving(verbs, zone, changes, { atomic, only }, false),
    );
  const judged = verbs.judge ? refusing((record) => verbs.judge?.(record), apply) : apply;
  return Object.assign(judged, {
    recordsAt: async (zone: RemoteZone, keys: readonly SetKey[]) =>
      (await verbs.readSets(zone, [...keys])).flatMap((set) => recordsOf(set, zone.name)),
  });
}

/**
 * `listRecords` and `apply` of such a vendor by all sets of a zone, among which those that are touched are found where
 * there is no `readSets`.
 */
export const fromSets = (
  whole: (zone: RemoteZone) => Promise<PlainSet[]>,
  verbs: Partial<Pick<RrsetVerbs, 'readSets'>> & Omit<RrsetVerbs, 'readSets'>,
): Pick<DnsProvider, 'listRecords' | 'apply'> => ({
  listRecords: async (zone) => recordsIn(await whole(zone), zone.name),
  apply: fromRrsets({ readSets: async (zone, keys) => setsAt(keys, await whole(zone), zone.name), ...verbs }),
});

interface Bounds {
  atomic: boolean;
  only: ApplyOptions['only'];
}

/**
 * Tries a list; where it is refused, each half of it alone.
 * @param doubt whether an earlier attempt may have been carried out
 */
async function halving(
  verbs: RrsetVerbs,
  zone: RemoteZone,
  changes: Change[],
  bounds: Bounds,
  doubt: boolean,
): Promise<Outcome[]> {
  try {
    return doubted(await withinDeadline(undefined, () => attempt(verbs, zone, changes, bounds)), doubt);
  } catch (error) {
    const failure = asProviderError(error);
    const unclear = doubt || failure.mayHaveApplied;
    const halves = failure.kind === 'rejected' && !bounds.atomic && halvesOf(changes);
    const outcomes = halves
      ? await inTurn(changes, halves, (list) => halving(verbs, zone, list, bounds, unclear))
      : changes.map(() => failed(failure));
    return doubted(outcomes, unclear);
  }
}

async function attempt(verbs: RrsetVerbs, zone: RemoteZone, changes: Change[], bounds: Bounds): Promise<Outcome[]> {
  const sent: Sent = { tries: new Tries(), writes: [], doubts: new Set() };
  const outcomes = await rounds(verbs, zone, changes, bounds, sent);
  return outcomes.flatMap((one, i) => doubted([one], sent.doubts.has(i)));
}

/** Reads, changes and writes the sets, and once more those that changed at the provider meanwhile. */
async function rounds(
  verbs: RrsetVerbs,
  zone: RemoteZone,
  changes: Change[],
  bounds: Bounds,
  sent: Sent,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = new Array(changes.length);
  let written = false;
  let left = [...changes.keys()];
  for (let round = 1; left.length && round <= ATTEMPTS; round += sent.tries.again ? 0 : 1) {
    try {
      const results = await once(verbs, zone, changes, { left, outcomes, sent, ...bounds });
      written ||= [...results.values()].includes('written');
      left = left.filter((i) => settle(changes[i] as Change, i, { outcomes, sent }, results));
    } catch (error) {
      // changes that were written are not reported as failed
      if (!written) throw error;
      for (const i of left) outcomes[i] = failed(asProviderError(error));
      return outcomes;
    }
  }
  const words = 'The record set kept changing at the provider; try again';
  for (const i of left) outcomes[i] = failed(new ProviderError('unavailable', words, false));
  return outcomes;
}

/** What was sent for a list. */
interface Sent {
  /** of a vendor that writes several sets at once */
  tries: Tries;
  /** of its last try, where it is not known whether they were carried out */
  writes: SetWrite[];
  /** changes that an earlier round may have carried out */
  doubts: Set<number>;
}

/** The changes of a list that are left, and all outcomes so far. */
interface Round extends Bounds {
  left: number[];
  outcomes: Outcome[];
  sent: Sent;
}

/** Reads the sets of the changes that are left, changes them, and writes them. */
async function once(verbs: RrsetVerbs, zone: RemoteZone, changes: Change[], round: Round) {
  const { left, outcomes, sent, atomic, only } = round;
  const keys = new Map(left.flatMap((i) => keysOf(changes[i] as Change)).map((key) => [keyText(key), key]));
  const read = await reading(() => verbs.readSets(zone, [...keys.values()]));
  const landed = landedOf(sent, read);
  if (landed) return landed;
  const moved = movedOf(read, only);
  const isMoved = (i: number) => keysOf(changes[i] as Change).some((key) => moved.has(keyText(key)));
  for (const i of left.filter(isMoved)) outcomes[i] = failed(changedMeanwhile());
  const going = left.filter((i) => !isMoved(i));
  const list = going.map((i) => changes[i] as Change);
  const edit = new SetEdit(zone, read);
  for (const [at, outcome] of edit.take(list).entries()) outcomes[going[at] as number] = outcome;
  const failure = atomic && left.map((i) => outcomes[i]).find((outcome) => outcome && !outcome.ok);
  if (failure && !failure.ok) {
    for (const i of left.filter((one) => outcomes[one]?.ok)) outcomes[i] = notTried(failure.error);
    return new Map<string, SetResult>();
  }
  const writes = edit.changed();
  if (writes.length && timeIsOver()) {
    for (const i of left) outcomes[i] = notTried();
    return new Map<string, SetResult>();
  }
  if (!writes.length) return new Map<string, SetResult>();
  const { replaceSet } = verbs;
  if (!replaceSet) return writeAtOnce(verbs, zone, writes, sent);
  const one = async (key: SetKey) => (await verbs.readSets(zone, [key]))[0];
  return writeEach(writes, list, (set, was) => replaceSet.call(verbs, zone, set, was), { atomic, read: one });
}

/** The results of a try that was unclear, where all of its sets are as it was to make them. */
function landedOf({ writes }: Sent, read: readonly RecordSet[]): Map<string, SetResult> | null {
  const now = new Map(read.map((set) => [keyText(set), set]));
  const isThere = ({ set }: SetWrite) => {
    const held = now.get(keyText(set));
    return held !== undefined && isWritten(held, set);
  };
  if (!writes.length || !writes.every(isThere)) return null;
  return new Map(writes.map(({ set }) => [keyText(set), 'written']));
}

/** Writes all sets at once. */
async function writeAtOnce(
  verbs: RrsetVerbs,
  zone: RemoteZone,
  writes: SetWrite[],
  sent: Sent,
): Promise<Map<string, SetResult>> {
  const [sets, was] = [writes.map((w) => w.set), writes.map((w) => w.was)];
  const done = await sent.tries.try(async () => verbs.replaceSets?.(zone, sets, was));
  sent.writes = isUnclear() ? writes : [];
  const result = (set: RecordSet): SetResult => {
    if (Array.isArray(done) && done.includes(set)) return failed(notTaken(set));
    if (done && !(done instanceof ProviderError)) return 'written';
    return isUnclear() ? 'unclear' : 'changed';
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
function settle(
  change: Change,
  i: number,
  { outcomes, sent }: Pick<Round, 'outcomes' | 'sent'>,
  results: Map<string, SetResult>,
): boolean {
  const outcome = outcomes[i];
  if (!outcome?.ok) return false;
  const parts = keysOf(change).map((key) => results.get(keyText(key)) ?? 'same');
  if (parts.includes('unclear')) sent.doubts.add(i);
  const failure = parts.find((part) => typeof part !== 'string');
  if (failure) outcomes[i] = partOf(failure, change, outcome, parts.includes('written'));
  return !failure && (parts.includes('changed') || parts.includes('unclear'));
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
