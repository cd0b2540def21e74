import { InvalidRecord } from '../platform/common/errors.js';
import type { FieldError } from '../platform/common/words/codes.js';
import { type FieldText, say } from '../platform/common/words/field-text.js';
import { fullName, hostName } from './names.js';
import { type DnsRecord, MANAGED_TYPES, type RemoteRecord, rdataOf, readRdata } from './record.js';
import { wordsOf } from './tokens.js';
import { sizeOf } from './types.js';
import { ascii, DISABLED, ddd, type EntryRecord, parseEntries, type ZoneFileError } from './zonefile-entries.js';

/** Parses and prints zones as master files; `zonefile-entries.ts` is for editing files. */

/** A record of a file. */
export interface ZoneFileRecord {
  /** Number of its first line, from 1. */
  line: number;
  record: Omit<RemoteRecord, 'remoteId'>;
}

const latin1 = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

/**
 * Parses the records of a master file in order, with all errors by line. SOA and other types maintained by servers are
 * omitted; records of types that the service cannot write are read-only. Duplicates and conflicting records are not
 * checked.
 * @param text Unicode; a byte order mark is ignored
 * @param zone without final dot: the initial origin, which must contain all records
 * @param ttl in seconds, default for records without a TTL; without it they are errors
 * @returns with errors, the records that were parsed: their TTL or name may be wrong
 */
export function parseZone(
  text: string,
  zone: string,
  ttl?: number,
): { records: ZoneFileRecord[]; errors: ZoneFileError[] } {
  const { entries, errors } = parseEntries(fileText(text), zone, ttl);
  const records: ZoneFileRecord[] = [];
  for (const { record: entry, line } of entries) {
    if (!entry || MANAGED_TYPES.has(entry.type)) continue;
    const { record, mistakes } = readEntry(entry, zone);
    if (record) records.push({ line, record });
    if (!mistakes.length) continue;
    const rule = mistakes.map(({ message }) => message).join('; ') as FieldText;
    errors.push({ line, message: say('in {place}: {rule}', { place: placeOf(entry), rule }), unsupported: false });
  }
  return { records, errors: errors.sort((a, b) => a.line - b.line) };
}

/** A file's text as `entriesOf` reads it: latin1, each character one octet, without a byte order mark. */
export const fileText = (text: string): string => latin1(text.replace(/^\uFEFF/, ''));

/** What a message about an entry calls it. */
export const placeOf = ({ owner, type }: Pick<EntryRecord, 'owner' | 'type'>): string => `${owner} ${type}`;

/** An entry of a type that is not maintained by servers as a record, or what is wrong with it. */
export function readEntry(
  entry: EntryRecord,
  zone: string,
): { record: ZoneFileRecord['record'] | null; mistakes: FieldError[] } {
  try {
    hostName(entry.owner, zone);
    const { record, mistakes } = readRdata(entry.owner, entry.type, entry.rdata, entry.ttl, zone) ?? { mistakes: [] };
    if (mistakes.length) return { record: null, mistakes };
    assertComplete(entry.type, entry.rdata);
    return { record: record ? { ...record, enabled: entry.enabled } : null, mistakes };
  } catch (error) {
    if (!(error instanceof InvalidRecord)) throw error;
    return { record: null, mistakes: error.mistakes };
  }
}

/** In input of users MX and SRV have a default priority; in a file it is required. */
function assertComplete(type: string, rdata: string): void {
  const size = sizeOf(type);
  const words = wordsOf(rdata) ?? [];
  if (size === null || words[0]?.raw === '\\#' || words.length === size) return;
  throw new InvalidRecord('value', say('needs {size} words of data, not {given}', { size, given: words.length }));
}

/** The printed fields of a record; master files have no routing lines, weights or proxies. */
export type PrintedRecord = Pick<DnsRecord, 'host' | 'type' | 'value' | 'priority' | 'ttl' | 'enabled'> &
  Partial<Pick<RemoteRecord, 'readOnly'>>;

/**
 * Prints the records as a master file in the given order, one per line. Disabled ones become comments that `parseZone`
 * reads. For a name server, include a SOA as a record with its rdata as value.
 * @param zone without final dot
 */
export function printZone(records: Iterable<PrintedRecord>, zone: string): string {
  let out = zoneHead(zone);
  for (const record of records) out += `${zoneLine(record, zone)}\n`;
  return out;
}

/** The line that begins a printed zone. */
export const zoneHead = (zone: string): string => `$ORIGIN ${zone}.\n`;

/** A record as one line of ASCII without its end: a comment for one that is disabled or cannot be printed. */
export function zoneLine(record: PrintedRecord, zone: string): string {
  const { host, type, ttl, enabled } = record;
  const rdata = record.readOnly ? oneLine(record.value) : rdataOf(record);
  const owner = host === '@' ? host : plain(latin1(host));
  if (rdata === null) return `; ${owner} ${type} is left out: its data is broken`;
  if (enabled) return `${owner} ${ttl} IN ${type} ${rdata}`;
  return `${DISABLED}${fullName(owner, zone)}. ${ttl} IN ${type} ${rdata}`;
}

/** Escapes special octets of master files as `\DDD`; existing escapes are kept. */
const plain = (text: string): string =>
  ascii(text.replace(/\\(?:\d{3}|[\s\S])|[\s;()"$@\\]/g, (all) => (all.length > 1 ? all : ddd(all))));

/** A provider's rdata as one line that every parser accepts; null when it is malformed. */
function oneLine(rdata: string): string | null {
  const words = wordsOf(latin1(rdata));
  const text = (raw: string, quoted: boolean, pair: boolean) =>
    quoted ? `"${ascii(raw)}"` : pair ? ascii(raw) : plain(raw);
  return words?.map(({ raw, quoted, pair }) => text(raw, quoted, pair)).join(' ') ?? null;
}
