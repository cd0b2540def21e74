import { type Entry, entriesOf } from '../../dns/zonefile-entries.js';
import { due, turn } from '../../platform/common/turns.js';
import { ProviderError } from '../kit/http/errors.js';

export type { Entry } from '../../dns/zonefile-entries.js';

/**
 * Reads a whole file, a large one in turns.
 * @param zone the origin at its start, without final dot
 * @throws ProviderError naming file and line of the first mistake: `rejected` for `$INCLUDE` and `$GENERATE`,
 * `unavailable` for what is not a master file. Nothing is skipped: a file that is not understood in full must not be
 * written. The line tells where; its words stay in the file.
 */
export async function parseMasterFile(text: string, zone: string, fileName = `${zone}.zone`): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (const entry of entriesOf(text, zone)) {
    if (due()) await turn();
    if (!entry) continue;
    const { error } = entry;
    if (error) {
      const kind = error.unsupported ? 'rejected' : 'unavailable';
      throw new ProviderError(kind, `${fileName} line ${error.line}: ${error.message}`, false);
    }
    entries.push({ text: entry.text, record: entry.record });
  }
  return entries;
}
