import { withoutDeadline } from '../../../platform/common/deadline.js';
import type { Change, Outcome } from '../../provider.js';
import { timeIsOver, withinDeadline } from '../http/deadline-context.js';
import { asProviderError, ProviderError } from '../http/errors.js';
import { endsList, failed, notTried } from '../records/outcomes.js';
import { keyText, type RecordSet, type SetKey, type SetWrite } from './record-set.js';
import { keysOf } from './set-edit.js';

type Failure = Outcome & { ok: false };

/** The result of one set: `changed` when a conditional write found it in another state, `same` without a write. */
export type SetResult = 'written' | 'changed' | 'same' | Failure;

/**
 * Writes sets one after the other. Sets between which a record moves, or of which one makes room for another at its
 * host, form a group, which ends with its first failure: a record that could not be written is not removed elsewhere.
 * After a failure that every other set would meet as well, or any failure of an atomic list, the rest is not begun.
 */
export async function writeEach(
  writes: SetWrite[],
  changes: readonly Change[],
  replaceSet: (set: RecordSet, was: RecordSet) => Promise<boolean>,
  { atomic = false, read }: { atomic?: boolean; read(key: SetKey): Promise<RecordSet | undefined> },
): Promise<Map<string, SetResult>> {
  const results = new Map<string, SetResult>();
  let stop: Failure | undefined;
  for (const together of groups(writes, changes)) {
    let blocked: Failure | 'changed' | undefined;
    for (const { set, was } of together) {
      if (timeIsOver()) stop ??= notTried();
      const result = stop ?? blocked ?? (await written(() => replaceSet(set, was)));
      results.set(keyText(set), result);
      // those after a set that changed meanwhile are read and tried once more with it
      if (result === 'changed') blocked ??= result;
      if (typeof result === 'string') continue;
      if (result.tried && set.members.length)
        await putBack(together, results, set, result.error, { replaceSet, read }).catch((error: unknown) => {
          const words = `${result.error.message}; what it was to replace is gone and was not put back: ${asProviderError(error).message}`;
          const { kind, late } = result.error;
          results.set(keyText(set), failed(new ProviderError(kind, words, true).lateBy(late)));
        });
      blocked ??= notTried(result.error);
      if (atomic || endsList(result.error)) stop ??= notTried(result.error);
    }
  }
  return results;
}

/** ms for restoring a set, however little time is left */
const BACK_MS = 30_000;

/** Restores the sets that made room at a host for a set that was not written, unless that set may exist. */
async function putBack(
  together: readonly SetWrite[],
  results: Map<string, SetResult>,
  failing: RecordSet,
  failure: ProviderError,
  { replaceSet, read }: Pick<Parameters<typeof writeEach>[3], 'read'> & { replaceSet: Parameters<typeof writeEach>[2] },
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
      const { raw: _held, ...whole } = was;
      if (!(await replaceSet(whole, empty))) throw new ProviderError('unavailable', 'the set was changed meanwhile');
      results.set(keyText(set), 'same');
    }
  };
  await withoutDeadline(() => withinDeadline(performance.now() + BACK_MS, back));
}

async function written(body: () => Promise<boolean>): Promise<SetResult> {
  try {
    return (await withinDeadline(undefined, body)) ? 'written' : 'changed';
  } catch (error) {
    return failed(asProviderError(error));
  }
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

/** The failure of a change that touches two sets. @param half the other set was written */
export function partOf(failure: Failure, half: boolean): Failure {
  if (!half) return failure;
  const { kind, message, late } = failure.error;
  const words = `${message} (of the two sets that the record is in, before and after, one is written)`;
  return { ok: false, error: new ProviderError(kind, words, true).lateBy(late), tried: true };
}
