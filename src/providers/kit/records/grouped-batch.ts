import { type RemoteRecord, sameRecord } from '../../../dns/record.js';
import type { Change } from '../../provider.js';
import { cutShort } from '../http/errors.js';

/**
 * One batch call of an API that takes changes grouped by operation, and answers with the same groups, in any order.
 * @param listed the group that a change belongs to, and its entry there
 * @param read a record of an answer
 * @returns the record that was answered for each change, null for a deletion
 * @throws ProviderError where an answer is missing: the batch may have been carried out
 */
export async function groupedBatch<T>(
  changes: readonly Change[],
  listed: (change: Change) => readonly [list: string, entry: object],
  send: (lists: Record<string, object[]>) => Promise<Partial<Record<string, readonly T[] | null>>>,
  read: (answer: T) => RemoteRecord | null,
): Promise<(RemoteRecord | null)[]> {
  const sent = changes.map(listed);
  const lists: Record<string, object[]> = {};
  for (const [list, entry] of sent) lists[list] = [...(lists[list] ?? []), entry];
  const answers = await send(lists);
  const whole = Object.entries(lists).every(([list, entries]) => answers[list]?.length === entries.length);
  if (!whole) throw cutShort('answer of each').applied(true);
  // the answer to a deletion is no record
  const kept = new Set(sent.flatMap(([list], i) => (changes[i]?.op === 'delete' ? [] : [list])));
  const left = new Map([...kept].map((list) => [list, (answers[list] ?? []).map((one) => one && read(one))]));
  const found: (RemoteRecord | null)[] = sent.map(() => null);
  for (const sure of [2, 1])
    for (const [i, [list]] of sent.entries()) {
      const change = changes[i] as Change;
      const answers = left.get(list) ?? [];
      const at = found[i] ? -1 : answers.findIndex((one) => likeness(one, change) >= sure);
      if (at >= 0) found[i] = answers.splice(at, 1)[0] ?? null;
    }
  if (found.some((one, i) => !one && changes[i]?.op !== 'delete')) throw cutShort('answer of each').applied(true);
  return found;
}

/** How well an answer matches a change: 2 by id or content, 1 by name and type, 0 not at all. */
function likeness(made: RemoteRecord | null, change: Change): number {
  if (!made || change.op === 'delete') return 0;
  if (change.op === 'update') return made.remoteId === change.before.remoteId ? 2 : 0;
  const { after } = change;
  return sameRecord(made, after) ? 2 : made.host === after.host && made.type === after.type ? 1 : 0;
}
