import { InvalidRecord } from '../platform/common/errors.js';
import { say } from '../platform/common/words/field-text.js';
import { fullName, hostName } from './names.js';
import { type DnsRecord, MANAGED_TYPES, type RemoteRecord, rdataOf, readRdata } from './record.js';
import { wordsOf } from './tokens.js';
import { sizeOf } from './types.js';
import { ascii, DISABLED, ddd, parseEntries, type ZoneFileError } from './zonefile-entries.js';

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
  const { entries, errors } = parseEntries(latin1(text.replace(/^\uFEFF/, '')), zone, ttl);
  const records: ZoneFileRecord[] = [];
  for (const { record: entry, line } of entries) {
    if (!entry || MANAGED_TYPES.has(entry.type)) continue;
    try {
      hostName(entry.owner, zone);
      const { record, mistakes } = readRdata(entry.owner, entry.type, entry.rdata, entry.ttl, zone) ?? { mistakes: [] };
      if (mistakes.length) throw new InvalidRecord(mistakes);
      assertComplete(entry.type, entry.rdata);
      if (record) records.push({ line, record: { ...record, enabled: entry.enabled } });
    } catch (error) {
      if (!(error instanceof InvalidRecord)) throw error;
      const message = `${entry.owner} ${entry.type}: ${error.mistakes.map((mistake) => mistake.message).join('; ')}`;
      errors.push({ line, message, unsupported: false });
    }
  }
  return { records, errors: errors.sort((a, b) => a.line - b.line) };
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
  let out = `$ORIGIN ${zone}.\n`;
  for (const record of records) {
    const { host, type, ttl, enabled } = record;
    const rdata = record.readOnly ? oneLine(record.value) : rdataOf(record);
    const owner = host === '@' ? host : plain(latin1(host));
    if (rdata === null) out += `; ${owner} ${type} is left out: its data is broken\n`;
    else if (enabled) out += `${owner} ${ttl} IN ${type} ${rdata}\n`;
    else out += `${DISABLED}${fullName(owner, zone)}. ${ttl} IN ${type} ${rdata}\n`;
  }
  return out;
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
