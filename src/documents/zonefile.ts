import { MANAGED_TYPES, SIGNER_TYPES, shownValue } from '../dns/record.js';
import { wordsOf } from '../dns/tokens.js';
import { isType } from '../dns/types.js';
import { fromGeneric } from '../dns/wire-rdata.js';
import { fileText, placeOf, readEntry, zoneHead, zoneLine } from '../dns/zonefile.js';
import { type EntryRecord, entriesOf, type FileEntry } from '../dns/zonefile-entries.js';
import { type FieldText, say } from '../platform/common/words/field-text.js';
import type { Found, Printer } from './document.js';
import { beside, lineOf, NOT_HERE } from './held.js';

/** Records that the `$GENERATE` directives of a document may make. */
const MAX_GENERATED = 10_000;

/** Parts of what `rndc dumpdb` of BIND writes: the zone, with its class and view, of which a part is. */
const PART = /^; (?:Zone dump of '(?<zone>[^'/]*)[^']*'|Cache dump of view )/;
/** Begins an export of Cloudflare, whose TTL 1 is an automatic one. */
const EXPORTED = /^;; Exported: /m;
/** Tags of Cloudflare in the comment of a record. */
const TAGS = /\bcf_tags=(\S*)/;

/** Reads a master file, as BIND does: see `src/dns/zonefile-entries.ts`. */
export function* readZoneFile(text: string, zone: string, ttl: number): Generator<Found> {
  // a template that is wrong is wrong for each of its numbers
  let wrong = 0;
  const isCloudflare = EXPORTED.test(text);
  for (const entry of ofZone(entriesOf(fileText(text), zone, ttl, MAX_GENERATED), zone)) {
    const isTold = entry && 'text' in entry && entry.text === '' && wrong === entry.line;
    const found = entry && 'text' in entry ? (isTold ? null : foundIn(entry, zone, isCloudflare)) : entry;
    if (found && ('message' in found || ('wrong' in found && found.wrong))) wrong = found.line;
    yield found;
  }
}

/** Of what `rndc dumpdb` writes the entries of the zone itself: it may hold the cache and other zones, too. */
function* ofZone(entries: Iterable<FileEntry | null>, zone: string): Generator<FileEntry | Found> {
  let isOurs = true;
  let dumped = 0;
  for (const entry of entries) {
    const part = entry && !entry.record && PART.exec(entry.text);
    if (part) isOurs = part.groups?.zone?.toLowerCase() === zone;
    if (part && isOurs && ++dumped === 2)
      yield { line: entry.line, message: 'the zone is in the file twice, as of two views: keep one of them' };
    if (!entry || isOurs) yield entry;
    else yield entry.record || entry.error ? { line: entry.line, note: 'elsewhere' } : null;
  }
}

function foundIn({ line, error, record: written, comment }: FileEntry, zone: string, isCloudflare: boolean): Found {
  if (error) return { line: error.line, message: error.message, code: error.unsupported ? 'unsupported' : 'format' };
  if (!written) return null;
  const { owner, type } = written;
  if (MANAGED_TYPES.has(type) || SIGNER_TYPES.has(type)) return { line, leftAside: type };
  const entry = inOwnForm(written);
  if (typeof entry === 'string') return { line, message: placed(written, entry) };
  const { record, mistakes } = readEntry(entry, zone);
  if (!record) {
    const input = { host: owner, type, value: entry.rdata, ttl: entry.ttl, enabled: entry.enabled };
    const told = mistakes.map(({ message, code, params }) => ({
      ...{ line, message: placed(written, message as FieldText), code, params },
    }));
    return { line, input, wrong: told };
  }
  const { ttl, priority, enabled, readOnly } = record;
  const value = type === 'SPF' ? inQuotes(record.value) : shownValue(record, readOnly);
  const tags = TAGS.exec(comment)?.[1]?.split(',');
  const proxied =
    tags && /^cf-proxied:(true|false)$/.exec(tags.find((tag) => tag.startsWith('cf-proxied:')) ?? '')?.[1];
  const input = { host: owner, type, value, ttl, priority, enabled, ...(proxied && { proxied: proxied === 'true' }) };
  return { line, input, isCloudflare: isCloudflare || tags !== undefined };
}

/** Strings of rdata, each between quotes. */
const inQuotes = (rdata: string): string => (wordsOf(rdata) ?? []).map(({ raw }) => `"${raw}"`).join(' ');

const placed = (entry: EntryRecord, rule: FieldText): FieldText =>
  say('in {place}: {rule}', { place: placeOf(entry).slice(0, 200), rule });

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
