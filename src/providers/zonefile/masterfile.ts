import { type Entry, parseEntries } from '../../dns/zonefile-entries.js';
import { ProviderError } from '../errors.js';

export type { Entry } from '../../dns/zonefile-entries.js';

/**
 * Reads a whole file.
 * @param zone the origin at its start, without final dot
 * @throws ProviderError naming file and line of the first mistake: `rejected` for `$INCLUDE` and `$GENERATE`,
 * `unavailable` for what is not a master file. Nothing is skipped: a file that is not understood in full must not be
 * written. The line tells where; its words stay in the file.
 */
export function parseMasterFile(text: string, zone: string, fileName = `${zone}.zone`): Entry[] {
  const { entries, errors } = parseEntries(text, zone);
  const [error] = errors;
  if (!error) return entries;
  const kind = error.unsupported ? 'rejected' : 'unavailable';
  throw new ProviderError(kind, `${fileName} line ${error.line}: ${error.message}`, false);
}
