import { MAX_TTL } from './record.js';
import { type Line, logicalLines, type Word } from './tokens.js';
import { fieldsOf, isType } from './types.js';

/**
 * Master files (RFC 1035 section 5, `$TTL` of RFC 2308 section 4) as a list of entries that keep their own text, so
 * that what is not touched is written back byte for byte. Text is latin1: each character is one octet of the file.
 */

/** A disabled record is a comment that starts so, then a record in one line with absolute names. */
export const DISABLED = ';zoneward:disabled ';

export interface Entry {
  /** its lines with their line ends, as in the file */
  text: string;
  /** null for blank lines, comments and directives */
  record: EntryRecord | null;
}

/** An entry as it was read. */
export interface FileEntry extends Entry {
  /** of its first line, from 1 */
  line: number;
  /** what is wrong with it */
  error: ZoneFileError | null;
}

export interface EntryRecord {
  /** absolute with final dot, lower case */
  owner: string;
  type: string;
  /** seconds */
  ttl: number;
  /** presentation form in one line, names absolute */
  rdata: string;
  enabled: boolean;
  /** what the text leaves out and takes from the record before it */
  inherits: { owner: boolean; ttl: boolean };
  /** how many characters of `text` are the owner, or the blanks that stand for it */
  ownerEnd: number;
  /** of a SOA: where its serial stands in `text` */
  serial?: { start: number; end: number };
}

/** More than any name and its origin take, each octet written as `\DDD`. */
const MAX_NAME = 8 * 255;
const UNITS: Record<string, number> = { w: 604800, d: 86400, h: 3600, m: 60, s: 1 };

/** Seconds of `3600` or `1h30m`, null when it is no TTL; `1h30` is none for BIND, either. */
export function parseTtl(text: string): number | null {
  if (!/^(\d+|(\d+[wdhms])+)$/i.test(text)) return null;
  let seconds = 0;
  for (const [, digits, unit] of text.matchAll(/(\d+)([wdhms]?)/gi)) {
    seconds += Number(digits) * (UNITS[unit?.toLowerCase() || 's'] ?? 1);
  }
  return seconds;
}

/** An octet as `\DDD`. */
export const ddd = (c: string): string => `\\${String(c.charCodeAt(0)).padStart(3, '0')}`;

/** Octets that are not printable ASCII as `\DDD`, so that latin1 text is plain ASCII and means the same. */
export const ascii = (text: string): string =>
  text.replace(/\\[\x20-\x7e]|\\?([^\x20-\x7e])/g, (all, octet?: string) => (octet === undefined ? all : ddd(octet)));

/** One spelling for one name: lower case, no escapes that are not needed. */
const canonicalName = (name: string): string =>
  ascii(name)
    .replace(/\\(?:(\d{3})|(.))/g, (_all, code?: string, char = String.fromCharCode(Number(code))) =>
      /[!-~]/.test(char) ? (/[."\\;()@$]/.test(char) ? `\\${char}` : char) : ddd(char),
    )
    .toLowerCase();

const isAbsolute = (name: string): boolean => /(^|[^\\])(\\\\)*\.$/.test(name);

/** What is wrong with a file, by line. */
export interface ZoneFileError {
  /** from 1 */
  line: number;
  message: string;
  /** what is right, but not supported: `$INCLUDE` and `$GENERATE` */
  unsupported: boolean;
}

/** Thrown where one line cannot be read further; the next one is read all the same. */
class Fault extends Error {
  constructor(
    message: string,
    readonly line: number,
    readonly unsupported = false,
  ) {
    super(message);
  }
}

function fail(message: string, line: number, unsupported = false): never {
  throw new Fault(message, line, unsupported);
}

/**
 * Reads a whole file, and tells everything that is wrong with it, in the order of its lines, at most one error a
 * record. The entries are the whole file all the same, what is wrong without record: with errors it must not be edited,
 * and records after a broken directive may have another name or TTL than was meant.
 * @param text latin1, each character one octet of the file
 * @param zone the origin at its start, without final dot
 * @param ttl in seconds, of records for which the file says none; without it that is an error
 */
export function parseEntries(
  text: string,
  zone: string,
  ttl: number | null = null,
): { entries: FileEntry[]; errors: ZoneFileError[] } {
  const entries: FileEntry[] = [];
  const errors: ZoneFileError[] = [];
  for (const entry of entriesOf(text, zone, ttl)) {
    if (!entry) continue;
    entries.push(entry);
    if (entry.error) errors.push(entry.error);
  }
  return { entries, errors };
}

/** The same entry by entry, for who reads large files in turns; null: a long one is being read. */
export function* entriesOf(text: string, zone: string, ttl: number | null = null): Generator<FileEntry | null> {
  const parser = new Parser(zone, ttl);
  for (const line of logicalLines(text)) yield line && entryOf(parser, line);
}

function entryOf(parser: Parser, line: Line): FileEntry {
  let record: EntryRecord | null = null;
  let error: ZoneFileError | null = line.fault && { ...line.fault, unsupported: false };
  try {
    // a line with a fault, too: its owner and TTL are those of the lines after it
    record = parser.read(line);
  } catch (fault) {
    if (!(fault instanceof Fault)) throw fault;
    error ??= { line: fault.line, message: fault.message, unsupported: fault.unsupported };
  }
  return { text: line.text, record: error ? null : record, line: line.number, error };
}

class Parser {
  private origin: string;
  private owner: string | null = null;
  private defaultTtl: number | null = null;
  private lastTtl: number | null = null;

  constructor(
    zone: string,
    private readonly otherwiseTtl: number | null,
  ) {
    this.origin = `${zone}.`;
  }

  /** @returns null for lines without record @throws Fault */
  read(line: Line): EntryRecord | null {
    if (line.text.startsWith(DISABLED)) return this.disabled(line);
    const first = line.words[0];
    if (!first) return null;
    return first.raw.startsWith('$') && first.start === 0 ? this.directive(line) : this.record(line);
  }

  private directive(line: Line): null {
    const [name, argument, ...rest] = line.words;
    const keyword = name?.raw.toUpperCase() ?? '';
    if (keyword === '$INCLUDE' || keyword === '$GENERATE') {
      fail(`${keyword} is not supported; put the records into the file itself`, line.number, true);
    }
    if ((keyword !== '$ORIGIN' && keyword !== '$TTL') || !argument || rest.length) {
      fail('the directive is not understood', line.number);
    }
    if (keyword === '$ORIGIN') this.origin = this.absolute(argument, line);
    else this.defaultTtl = this.ttl(argument, line);
    return null;
  }

  private ttl(word: Word, line: Line): number {
    const ttl = parseTtl(word.raw);
    if (ttl !== null && ttl <= MAX_TTL) return ttl;
    // whatever was meant: the records after it are not wrong for it
    this.lastTtl ??= 0;
    return fail('not a TTL', line.number);
  }

  private absolute(word: Word, line: Line): string {
    if (word.raw === '@' && !word.quoted) return this.origin;
    if (word.raw.length + this.origin.length > MAX_NAME) fail('a name is too long', line.number);
    const name = canonicalName(word.raw);
    if (isAbsolute(name)) return name;
    return this.origin === '.' ? `${name}.` : `${name}.${this.origin}`;
  }

  /** A disabled record stands outside the flow: what follows inherits nothing from it. */
  private disabled(line: Line): EntryRecord {
    const { owner, lastTtl, defaultTtl } = this;
    const inner = [...logicalLines(line.text.slice(DISABLED.length))].find((part) => part !== null);
    if (inner?.fault) fail(inner.fault.message, line.number);
    if (!inner?.words.length || inner.words[0]?.start !== 0) fail('a disabled record is broken', line.number);
    try {
      return { ...this.record({ ...inner, number: line.number }), enabled: false };
    } finally {
      Object.assign(this, { owner, lastTtl, defaultTtl });
    }
  }

  private record(line: Line): EntryRecord {
    const words = [...line.words];
    const inheritsOwner = (words[0] as Word).start > 0 && /^\s/.test(line.text);
    const ownerWord = inheritsOwner ? null : (words.shift() as Word);
    if (ownerWord) this.owner = this.absolute(ownerWord, line);
    const owner = this.owner ?? fail('the first record has no owner', line.number);
    const ownerEnd = ownerWord ? ownerWord.end : (/^[ \t]*/.exec(line.text)?.[0].length ?? 0);

    let ttl: number | null = null;
    let hasClass = false;
    for (let word = words[0]; word; word = words[0]) {
      if (!hasClass && /^(IN|CH|HS|CS)$/i.test(word.raw)) {
        if (word.raw.toUpperCase() !== 'IN') fail('only class IN is supported', line.number);
        hasClass = true;
      } else if (ttl === null && parseTtl(word.raw) !== null) ttl = this.ttl(word, line);
      else break;
      words.shift();
    }
    if (ttl !== null) this.lastTtl = ttl;
    const type = words.shift()?.raw.toUpperCase() ?? fail('a record without type', line.number);
    if (!isType(type)) fail('not a record type', line.number);
    if (words.length === 0) fail(`${type} without data`, line.number);

    const rdata = this.rdata(type, words, line);
    const known = ttl ?? this.defaultTtl ?? this.lastTtl ?? this.soaMinimum(type, words, line);
    const record: EntryRecord = {
      owner,
      type,
      ttl: known,
      rdata,
      enabled: true,
      inherits: { owner: inheritsOwner, ttl: ttl === null && this.defaultTtl === null },
      ownerEnd,
    };
    if (type !== 'SOA') return record;
    const serial = words[2];
    if (words.length !== 7 || !serial || !/^\d{1,10}$/.test(serial.raw) || Number(serial.raw) > 0xffffffff)
      fail('the SOA is broken', line.number);
    return { ...record, serial: { start: serial.start, end: serial.end } };
  }

  /** Without `$TTL` and without a TTL before, name servers take the last field of the SOA for the whole file. */
  private soaMinimum(type: string, words: Word[], line: Line): number {
    const last = words.at(-1);
    if (type !== 'SOA' || !last)
      return this.otherwiseTtl ?? fail('a record without TTL, and no $TTL before it', line.number);
    this.defaultTtl = this.ttl(last, line);
    return this.defaultTtl;
  }

  private rdata(type: string, words: Word[], line: Line): string {
    const fields = words[0]?.raw === '\\#' ? [] : fieldsOf(type);
    return words
      .map((word, i) => {
        if (fields[i] === 'name') return this.absolute(word, line);
        // elsewhere readers differ in what it means
        if (word.pair && type !== 'SVCB' && type !== 'HTTPS') fail('a quote inside a word', line.number);
        return word.quoted ? `"${ascii(word.raw)}"` : ascii(word.raw);
      })
      .join(' ');
  }
}
