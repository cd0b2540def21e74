import { InvalidRecord } from '../platform/common/errors.js';
import { fullName, hostName } from './names.js';
import { type DnsRecord, MANAGED_TYPES, type RemoteRecord, rdataOf, readRdata } from './record.js';
import { wordsOf } from './tokens.js';
import { sizeOf } from './types.js';
import { ascii, DISABLED, ddd, parseEntries, type ZoneFileError } from './zonefile-entries.js';

/** Zones as master files, in and out; `zonefile-entries.ts` is for files that are edited. */

/** A record of a file. */
export interface ZoneFileRecord {
  /** of its first line, from 1 */
  line: number;
  record: Omit<RemoteRecord, 'remoteId'>;
}

const latin1 = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

/**
 * The records of a master file, in its order, and everything that is wrong with it, by line. SOA and what else servers
 * manage themselves is left out; records of types that the service cannot write are read-only. A record may be there
 * twice, and nothing is said of records that do not go together.
 * @param text Unicode; a byte order mark is passed over
 * @param zone without final dot: the origin at the start, and what all records must lie in
 * @param ttl in seconds, of records for which the file says none; without it that is an error
 * @returns with errors the records are what was understood: another TTL or name may have been meant
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

/** The rules of MX and SRV add a priority where none is given, as people may; in a file it must be there. */
function assertComplete(type: string, rdata: string): void {
  const size = sizeOf(type);
  const words = wordsOf(rdata) ?? [];
  if (size === null || words[0]?.raw === '\\#' || words.length === size) return;
  throw new InvalidRecord('value', `needs ${size} words of data, not ${words.length}`);
}

/** What of a record is printed. Routing lines, weights and proxies have no place in a master file. */
export type PrintedRecord = Pick<DnsRecord, 'host' | 'type' | 'value' | 'priority' | 'ttl' | 'enabled'> &
  Partial<Pick<RemoteRecord, 'readOnly'>>;

/**
 * A master file with the records in the order given, one a line. Disabled ones are comments that `parseZone` reads.
 * A name server wants a SOA besides, which may be given as a record with its rdata as value.
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

/** Octets that have a meaning of their own in a master file as `\DDD`; escapes stay. */
const plain = (text: string): string =>
  ascii(text.replace(/\\(?:\d{3}|[\s\S])|[\s;()"$@\\]/g, (all) => (all.length > 1 ? all : ddd(all))));

/** Rdata that a provider sent, so that it is one line for every reader; null when it is broken. */
function oneLine(rdata: string): string | null {
  const words = wordsOf(latin1(rdata));
  const text = (raw: string, quoted: boolean, pair: boolean) =>
    quoted ? `"${ascii(raw)}"` : pair ? ascii(raw) : plain(raw);
  return words?.map(({ raw, quoted, pair }) => text(raw, quoted, pair)).join(' ') ?? null;
}
