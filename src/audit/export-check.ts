import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { AuditCheckpoint, AuditView } from './audit.dto.js';
import { type Break, ChainWalk, isSigned, type Linked } from './chain.js';

/** An entry of an export as it is hashed. */
function linkedOf({ actor, before, after, ...entry }: AuditView): Linked {
  return {
    ...entry,
    actor_type: actor.type,
    user_id: actor.user_id,
    username: actor.username,
    token_id: actor.token_id,
    token_name: actor.token_name,
    state_before: before,
    state_after: after,
  };
}

/** What an export of all entries turned out to be. */
export interface ExportVerdict {
  first: number;
  last: number;
  wrong: Break | null;
  /** checkpoints within it, which it agrees with */
  confirmed: number;
}

/**
 * Recomputes the chain of an export (`ndjson`, without filters), line by line, without the database. Checkpoints that
 * were kept elsewhere prove that it was not written anew, and that its tail is there.
 * @param upTo whether it has to reach to the newest of them
 * @throws Error where the file is no such export
 */
export async function checkExport(
  path: string,
  checkpoints: readonly AuditCheckpoint[],
  upTo: boolean,
): Promise<ExportVerdict> {
  const forged = checkpoints.find((checkpoint) => !isSigned(checkpoint));
  if (forged) throw new Error(`the checkpoint of entry ${forged.seq} is not signed with the key that it names`);
  let walk: ChainWalk | undefined;
  let [first, line] = [0, 0];
  const of = (wrong: Break | null): ExportVerdict => {
    const last = walk?.seq ?? 0;
    const met = checkpoints.filter(({ seq }) => seq >= first && seq <= last);
    const start = met.toSorted((a, b) => a.seq - b.seq).at(-1)?.start_seq ?? first;
    const reason = `entries ${start} to ${first - 1} are missing: they were there at the newest checkpoint`;
    const missing = !wrong && start < first ? { seq: start, reason } : wrong;
    return { first, last, wrong: missing, confirmed: missing ? 0 : met.length };
  };
  for await (const text of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    line += 1;
    if (!text) continue;
    let entry: AuditView;
    try {
      entry = JSON.parse(text);
      if (!Number.isInteger(entry.seq) || !entry.actor) throw new Error();
    } catch {
      throw new Error(`line ${line} is no entry of an export as ndjson`);
    }
    if (!walk) {
      first = entry.seq;
      walk = new ChainWalk(first - 1, entry.prev_hash, checkpoints, 0);
    }
    const wrong = walk.next(linkedOf(entry));
    if (wrong) return of(wrong);
  }
  if (!walk) throw new Error('the file has no entries');
  return of(upTo ? walk.end() : null);
}

/** @throws Error where a line is no checkpoint */
export function parseCheckpoints(text: string): AuditCheckpoint[] {
  return text
    .split('\n')
    .filter((line) => line.trim())
    .map((line) => {
      const found = JSON.parse(line) as AuditCheckpoint & { checkpoint?: AuditCheckpoint };
      // a line of the service's log has it inside
      const checkpoint = found.checkpoint ?? found;
      if (!Number.isInteger(checkpoint.seq)) throw new Error('the file of checkpoints has a line that is none');
      return checkpoint;
    });
}
