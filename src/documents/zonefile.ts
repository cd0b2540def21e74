import { MANAGED_TYPES, shownValue } from '../dns/record.js';
import { isType } from '../dns/types.js';
import { fromGeneric } from '../dns/wire-rdata.js';
import { fileText, placeOf, readEntry, zoneHead, zoneLine } from '../dns/zonefile.js';
import { type EntryRecord, entriesOf, type FileEntry } from '../dns/zonefile-entries.js';
import { fieldError } from '../platform/common/errors.js';
import { type FieldText, say } from '../platform/common/words/field-text.js';
import type { Found, Printer } from './document.js';
import { beside, lineOf, NOT_HERE } from './held.js';

/** Records that the `$GENERATE` directives of a document may make. */
const MAX_GENERATED = 10_000;

/** Reads a master file, as BIND does: see `src/dns/zonefile-entries.ts`. */
export function* readZoneFile(text: string, zone: string, ttl: number): Generator<Found> {
  // a template that is wrong is wrong for each of its numbers
  let wrong = 0;
  for (const entry of entriesOf(fileText(text), zone, ttl, MAX_GENERATED)) {
    const isTold = entry?.text === '' && wrong === entry.line;
    for (const found of entry && !isTold ? foundIn(entry, zone) : [null]) {
      if (found && 'message' in found) wrong = found.line;
      yield found;
    }
  }
}

function foundIn({ line, error, record: written }: FileEntry, zone: string): Found[] {
  if (error) return [{ line: error.line, message: error.message, code: error.unsupported ? 'unsupported' : 'format' }];
  if (!written) return [null];
  const { owner, type } = written;
  if (MANAGED_TYPES.has(type)) return [{ line, leftAside: type }];
  const entry = inOwnForm(written);
  const { record, mistakes } = typeof entry === 'string' ? wrong(entry) : readEntry(entry, zone);
  if (!record)
    return mistakes.map(({ message, code, params }) => {
      const words = say('in {place}: {rule}', { place: placeOf(written).slice(0, 200), rule: message as FieldText });
      return { line, message: words, code, params };
    });
  const { ttl, priority, enabled, readOnly } = record;
  return [{ line, input: { host: owner, type, value: shownValue(record, readOnly), ttl, priority, enabled } }];
}

const wrong = (message: FieldText) => ({ record: null, mistakes: [fieldError('value', message)] });

/** An entry whose rdata is `\# 4 c0000205` in the form of its type, or what is wrong with it. */
function inOwnForm(entry: EntryRecord): EntryRecord | FieldText {
  const { type } = entry;
  if (!/^\\# /.test(`${entry.rdata} `)) return entry;
  const rdata = fromGeneric(type, entry.rdata);
  if (rdata === null)
    return 'its \\# is broken: it must be a length and as many octets in hexadecimal, as the type has them';
  return { ...entry, rdata };
}

export const zoneFile: Printer = {
  contentType: 'text/dns; charset=utf-8',
  extension: 'zone',
  print: (zone) => ({
    head: `; ${zone}: ${NOT_HERE}\n; routing lines, weights and proxied have no form here, and stand in comments; remarks are left out\n${zoneHead(zone)}`,
    *records(records) {
      for (const record of records) {
        const more = beside(record);
        if (!isType(record.type)) yield `; of no type of DNS: ${lineOf(record, zone)}\n`;
        // a disabled record is a comment of its own, which is read again as it stands
        else yield `${zoneLine(record, zone)}${more && record.enabled ? ` ; ${more}` : ''}\n`;
      }
    },
    tail: () => '',
  }),
};
