import { isDeepStrictEqual } from 'node:util';
import { monotonicMs } from '../../../platform/common/clock.js';
import { withoutDeadline } from '../../../platform/common/deadline.js';
import type { Change, Outcome } from '../../provider.js';
import { isUnclear, reading, Tries, timeIsOver, withinDeadline } from '../http/deadline-context.js';
import { asProviderError, ProviderError } from '../http/errors.js';
import { endsList, failed, notTried } from '../records/outcomes.js';
import { keyText, type RecordSet, type SetKey, type SetWrite } from './record-set.js';
import { keysOf } from './set-edit.js';

/** `now`: the set as it is, where a part of it may be written. */
type Failure = Outcome & { ok: false } & { now?: RecordSet };

/**
 * The result of one set: `changed` when it is in another state than it was read, and was not written; `unclear` when an
 * earlier try may have been carried out before it came to that state; `same` without a write.
 */
export type SetResult = 'written' | 'changed' | 'unclear' | 'same' | Failure;

/**
 * Writes sets one after the other. Sets between which a record moves, or of which one makes room for another at its
 * host, form a group, which ends with its first failure: a record that could not be written is not removed elsewhere.
 * After a failure that every other set would meet as well, or any failure of an atomic list, the rest is not begun.
 */
export async function writeEach(
  writes: SetWrite[],
  changes: readonly Change[],
  replaceSet: SetVerbs['replaceSet'],
  { atomic = false, read }: Pick<SetVerbs, 'read'> & { atomic?: boolean },
): Promise<Map<string, SetResult>> {
  const results = new Map<string, SetResult>();
  let stop: Failure | undefined;
  for (const together of groups(writes, changes)) {
    stop = await writeGroup(together, results, stop, { replaceSet, read, atomic });
  }
  return results;
}

interface SetVerbs {
  replaceSet(set: RecordSet, was: RecordSet): Promise<boolean>;
  read(key: SetKey): Promise<RecordSet | undefined>;
}

/** Writes one group. @param stop why nothing is begun any more @returns the same for the next group */
async function writeGroup(
  together: readonly SetWrite[],
  results: Map<string, SetResult>,
  stop: Failure | undefined,
  { replaceSet, read, atomic }: SetVerbs & { atomic: boolean },
): Promise<Failure | undefined> {
  let end = stop;
  let blocked: Failure | 'changed' | undefined;
  for (const { set, was } of together) {
    if (timeIsOver()) end ??= notTried();
    const result = end ?? blocked ?? (await written(set, was, { replaceSet, read }));
    results.set(keyText(set), result);
    // those after a set that changed meanwhile are read and tried once more with it
    if (result === 'changed' || result === 'unclear') blocked ??= 'changed';
    if (typeof result === 'string') continue;
    if (result.tried && set.members.length) {
      await putBack(together, results, set, result.error, { replaceSet, read }).catch((error: unknown) =>
        results.set(keyText(set), failed(lost(result.error, error))),
      );
    }
    blocked ??= notTried(result.error);
    if (endsList(result, atomic)) end ??= notTried(result.error);
  }
  return end;
}

/** The failure of a set that was to replace what is gone now. */
function lost({ kind, message, late }: ProviderError, why: unknown): ProviderError {
  const words = `${message}; what it was to replace is gone and was not put back: ${asProviderError(why).message}`;
  return new ProviderError(kind, words, true).lateBy(late);
}

/** ms for restoring a set, however little time is left */
const BACK_MS = 30_000;

/** Restores the sets that made room at a host for a set that was not written, unless that set may exist. */
async function putBack(
  together: readonly SetWrite[],
  results: Map<string, SetResult>,
  failing: RecordSet,
  failure: ProviderError,
  { replaceSet, read }: SetVerbs,
): Promise<void> {
  const made = together.filter(
    ({ set }) => set.host === failing.host && !set.members.length && results.get(keyText(set)) === 'written',
  );
  if (!made.length) return;
  if (failure.late) throw new ProviderError('unavailable', 'its successor may still be written');
  const back = async () => {
    if (failure.mayHaveApplied && (await read(failing))?.members.length) return;
    for (const { set, was } of made) {
      const { raw: _raw, ...empty } = set;
      if (!(await replaceSet({ ...was, raw: was.extra }, empty)))
        throw new ProviderError('unavailable', 'the set was changed meanwhile');
      results.set(keyText(set), 'same');
    }
  };
  await withoutDeadline(() => withinDeadline(monotonicMs() + BACK_MS, back));
}

/** Writes one set. Where it may be tried again, it is read again: only what is as it was is written once more. */
async function written(set: RecordSet, was: RecordSet, verbs: SetVerbs): Promise<SetResult> {
  const tries = new Tries();
  try {
    return await withinDeadline(undefined, async () => {
      let result: SetResult | null = null;
      while (!result) result = await oneTry(tries, set, was, verbs);
      return result;
    });
  } catch (error) {
    const failure: Failure = failed(asProviderError(error));
    const { kind, mayHaveApplied, late } = failure.error;
    // where one of several steps is refused, those before it are carried out
    const isPart = kind === 'rejected' && mayHaveApplied && !late;
    const now = isPart && (await reading(() => verbs.read(set)).catch(() => undefined));
    return now ? { ...failure, now } : failure;
  }
}

/** @returns null where the set may be written once more as it was to be */
async function oneTry(
  tries: Tries,
  set: RecordSet,
  was: RecordSet,
  { replaceSet, read }: SetVerbs,
): Promise<SetResult | null> {
  const done = await tries.try(() => replaceSet(set, was));
  if (done === true) return 'written';
  const now = done && (await reading(() => read(set)));
  if (now && isWritten(now, set)) return 'written';
  if (now && isDeepStrictEqual(now, was)) return null;
  return isUnclear() ? 'unclear' : 'changed';
}

/** Whether a set that was read is as it was to be. */
export function isWritten(read: RecordSet, { ttl, members }: RecordSet): boolean {
  const state = (set: Pick<RecordSet, 'ttl' | 'members'>) =>
    set.members.map((one) => `${one.remoteId} ${one.enabled} ${one.ttl ?? set.ttl}`).toSorted();
  return isDeepStrictEqual(state(read), state({ ttl, members }));
}

/** The groups of writes that depend on each other, each in its order. */
function groups(writes: SetWrite[], changes: readonly Change[]): SetWrite[][] {
  const group = new Map(writes.map((write) => [keyText(write.set), [write]]));
  const join = (a: string, b: string) => {
    const [one, other] = [group.get(a), group.get(b)];
    if (!one || !other || one === other) return;
    one.push(...other);
    for (const { set } of other) group.set(keyText(set), one);
  };
  for (const change of changes) {
    const [first, second] = keysOf(change).map(keyText);
    if (first && second) join(first, second);
  }
  for (const { set } of writes.filter((w) => !w.set.members.length)) {
    for (const other of writes) if (other.set.host === set.host) join(keyText(set), keyText(other.set));
  }
  const order = new Map(writes.map((write, i) => [write, i]));
  const at = (write: SetWrite) => order.get(write) ?? 0;
  return [...new Set(group.values())].map((list) => list.toSorted((a, b) => at(a) - at(b)));
}

/** Whether a set is as one change of it alone would have made it. */
function holds({ members, ttl }: RecordSet, change: Change, outcome: Outcome): boolean {
  const memberOf = (remoteId: string | null) => members.find((one) => one.remoteId === remoteId);
  const { op } = change;
  const remoteId = outcome.ok ? outcome.remoteId : null;
  if (op !== 'create' && change.before.remoteId !== remoteId && memberOf(change.before.remoteId)) return false;
  if (op === 'delete') return true;
  const wish = (outcome.ok && outcome.held) || change.after;
  const held = memberOf(remoteId);
  return held?.enabled === wish.enabled && (held.ttl ?? ttl) === wish.ttl;
}

/**
 * What came of a change where a set was not written.
 * @param outcome that of the change if it had been
 * @param half of the two sets that it touches the other one was written
 */
export function partOf({ now, ...failure }: Failure, change: Change, outcome: Outcome, half: boolean): Outcome {
  const isOfOne = new Set(keysOf(change).map(keyText)).size === 1;
  if (now && isOfOne && holds(now, change, outcome)) return outcome;
  if (!half) return failure;
  const { kind, message, late } = failure.error;
  const words = `${message} (of the two sets that the record is in, before and after, one is written)`;
  return { ok: false, error: new ProviderError(kind, words, true).lateBy(late), tried: true };
}
