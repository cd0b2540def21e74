import { createReadStream } from 'node:fs';
import { linesOf } from '../platform/common/lines.js';
import type { AuditCheckpoint, AuditView } from './audit.dto.js';
import { type Break, ChainWalk, isSigned, type Linked } from './chain.js';

/** The first and the last line of an export as `json`. */
export const JSON_HEAD = '{"code":0,"data":[';
export const JSON_TAIL = '],"msg":"success"}';

/** An entry of an export as it is hashed: changed in place, since copies would live until the next full collection. */
function linkedOf(entry: AuditView): Linked {
  const { actor, before, after } = entry;
  return Object.assign(entry, {
    actor_type: actor.type,
    user_id: actor.user_id,
    username: actor.username,
    token_id: actor.token_id,
    token_name: actor.token_name,
    state_before: before,
    state_after: after,
  });
}

/** The result of checking an export of all entries. */
interface ExportVerdict {
  first: number;
  last: number;
  wrong: Break | null;
  /** checkpoints within it, which it agrees with */
  confirmed: number;
}

/**
 * Recomputes the chain of an export (`json` or `ndjson`, without filters), line by line, without the database.
 * Checkpoints that were kept elsewhere prove that it was not written anew, and that its tail is there.
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
  let first = 0;
  for await (const entry of entriesIn(path)) {
    if (!walk) {
      first = entry.seq;
      walk = new ChainWalk(first - 1, entry.prev_hash, checkpoints, 0);
    }
    const wrong = walk.next(linkedOf(entry));
    if (wrong) return verdictOf(checkpoints, first, walk.seq, wrong);
  }
  if (!walk) throw new Error('the file has no entries');
  return verdictOf(checkpoints, first, walk.seq, upTo ? walk.end() : null);
}

function entryIn(text: string, isJson: boolean): AuditView | null {
  const entry = parsed(isJson ? text.replace(/,$/, '') : text) as AuditView | null;
  return Number.isInteger(entry?.seq) && entry?.actor ? entry : null;
}

/** The entries of an export. @throws Error where it is none, or was cut */
async function* entriesIn(path: string): AsyncGenerator<AuditView> {
  // in `json`, too, each entry has a line of its own, between the head and the tail
  let [isJson, isEnded] = [false, false];
  let line = 0;
  for await (const text of linesOf(createReadStream(path))) {
    line += 1;
    if (line === 1 && text === JSON_HEAD) isJson = true;
    else if (isJson && text === JSON_TAIL) isEnded = true;
    if (!text.trim() || text === JSON_HEAD || isEnded) continue;
    const entry = entryIn(text, isJson);
    if (!entry) throw new Error(`line ${line} is no entry of an export as json or ndjson`);
    yield entry;
  }
  if (isJson && !isEnded) throw new Error('the file was cut: its end is missing');
}

/** What the entries from `first` to `last` say: also where those are missing that the newest checkpoint begins with. */
function verdictOf(
  checkpoints: readonly AuditCheckpoint[],
  first: number,
  last: number,
  broken: Break | null,
): ExportVerdict {
  const met = checkpoints.filter(({ seq }) => seq >= first && seq <= last);
  const start = met.toSorted((a, b) => a.seq - b.seq).at(-1)?.start_seq ?? first;
  const reason = `entries ${start} to ${first - 1} are missing: they were there at the newest checkpoint`;
  const wrong = !broken && start < first ? { seq: start, reason } : broken;
  return { first, last, wrong, confirmed: wrong ? 0 : met.length };
}

/** @throws Error naming the first line that is no checkpoint */
export function parseCheckpoints(text: string): AuditCheckpoint[] {
  return text.split('\n').flatMap((line, i) => {
    if (!line.trim()) return [];
    const found = parsed(line) as AuditCheckpoint & { checkpoint?: AuditCheckpoint; details?: AuditCheckpoint };
    // lines of the service's log and bodies of webhooks have it in a field
    const checkpoint = found?.checkpoint ?? found?.details ?? found;
    if (!Number.isInteger(checkpoint?.seq)) throw new Error(`line ${i + 1} of the file of checkpoints is none`);
    return [checkpoint];
  });
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
