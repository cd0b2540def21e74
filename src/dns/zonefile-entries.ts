import { type FieldText, say } from '../platform/common/words/field-text.js';
import { filled, rangeOf } from './generate.js';
import { MAX_TTL } from './record.js';
import { type Line, logicalLines, type Word } from './tokens.js';
import { fieldsOf, isType, typeName } from './types.js';

/**
 * Master files (RFC 1035 section 5, `$TTL` of RFC 2308 section 4) as a list of entries with their original text, so
 * that unchanged ones are written back byte for byte. Text is latin1: each character is one octet of the file.
 */

/** Prefix of a comment that holds a disabled record in one line with absolute names. */
export const DISABLED = ';zoneward:disabled ';

export interface Entry {
  /** Its lines with their line ends, as in the file. */
  text: string;
  /** null for blank lines, comments and directives. */
  record: EntryRecord | null;
}

/** A parsed entry. */
export interface FileEntry extends Entry {
  /** The comment after its last word, without `;`; empty: none. */
  comment: string;
  /** Number of its first line, from 1. */
  line: number;
  /** Its error. */
  error: ZoneFileError | null;
}

export interface EntryRecord {
  /** Absolute with final dot, lower case. */
  owner: string;
  type: string;
  /** seconds */
  ttl: number;
  /** Presentation form in one line with absolute names. */
  rdata: string;
  enabled: boolean;
  /** Fields omitted in the text and inherited from the previous record. */
  inherits: { owner: boolean; ttl: boolean };
  /** Number of characters of `text` used by the owner, or the blanks in its place. */
  ownerEnd: number;
  /** Position of a SOA's serial in `text`. */
  serial?: { start: number; end: number };
}

/** Longer than any name with its origin, each octet written as `\DDD`. */
const MAX_NAME = 8 * 255;
/** Of the data of a record: more would hold up the event loop. The longest text has 258 full strings. */
const MAX_WORDS = 4096;
/** When Windows has last seen a dynamic record, in hours since 1601: in its exports, before the TTL. */
const AGE = /^\[AGE:\d+\]$/i;
/** GoDaddy's `_sip._tls.@`, whose `@` stands for the origin. */
const BEFORE_ORIGIN = /[^\\](\\\\)*\.@$/;
const UNITS: Record<string, number> = { w: 604800, d: 86400, h: 3600, m: 60, s: 1 };

/** Seconds of `3600` or `1h30m`; null for an invalid TTL such as `1h30`, which BIND rejects, too. */
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

/** Writes octets that are not printable ASCII as `\DDD`, so that latin1 text becomes equivalent ASCII. */
export const ascii = (text: string): string =>
  text.replace(/\\[\x20-\x7e]|\\?([^\x20-\x7e])/g, (all, octet?: string) => (octet === undefined ? all : ddd(octet)));

/** Canonical spelling of a name: lower case, no unnecessary escapes. */
const canonicalName = (name: string): string =>
  ascii(name)
    .replace(/\\(?:(\d{3})|(.))/g, (_all, code?: string, char = String.fromCharCode(Number(code))) =>
      /[!-~]/.test(char) ? (/[."\\;()@$]/.test(char) ? `\\${char}` : char) : ddd(char),
    )
    .toLowerCase();

const isAbsolute = (name: string): boolean => /(^|[^\\])(\\\\)*\.$/.test(name);

/** An error in a file. */
export interface ZoneFileError {
  /** Line number, from 1. */
  line: number;
  message: FieldText;
  /** Valid, but not supported: `$INCLUDE` and `$GENERATE`. */
  unsupported: boolean;
}

/** Ends the parsing of a line; parsing continues with the next one. */
class Fault extends Error {
  constructor(
    readonly words: FieldText,
    readonly line: number,
    readonly unsupported = false,
  ) {
    super(words);
  }
}

function fail(message: FieldText, line: number, unsupported = false): never {
  throw new Fault(message, line, unsupported);
}

/**
 * Parses a whole file and reports all errors in order of their lines, at most one per record. The entries always cover
 * the whole file, invalid ones without a record: with errors it must not be edited, and records after an invalid
 * directive may have the wrong name or TTL.
 * @param text latin1, each character one octet of the file
 * @param zone the initial origin, without final dot
 * @param ttl in seconds, default for records without a TTL; without it they are errors
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

/**
 * The same entry by entry, so that the caller can yield to the event loop; null: inside a long entry.
 * @param generate how many records the `$GENERATE` directives of the file may make, each of them an entry of its own of
 *   which only the first has a text, and `TYPE1` is read as A, as is what other tools write and BIND does not read;
 *   0: they are errors, and `TYPE1` stays as it is written, as where the file is edited
 */
export function* entriesOf(
  text: string,
  zone: string,
  ttl: number | null = null,
  generate = 0,
): Generator<FileEntry | null> {
  const parser = new Parser(zone, ttl, generate);
  for (const line of logicalLines(text)) {
    if (line && generate > 0 && parser.generates(line)) yield* parser.generate(line);
    else yield line && entryOf(parser, line);
  }
}

/** @throws the error itself when it is none of a line */
function faultOf(fault: unknown): ZoneFileError {
  if (!(fault instanceof Fault)) throw fault;
  return { line: fault.line, message: fault.words, unsupported: fault.unsupported };
}

function entryOf(parser: Parser, line: Line): FileEntry {
  let record: EntryRecord | null = null;
  let error: ZoneFileError | null = line.fault && { ...line.fault, unsupported: false };
  try {
    // also for an invalid line: later lines inherit its owner and TTL
    record = parser.read(line);
  } catch (fault) {
    error ??= faultOf(fault);
  }
  const comment = /;(.*)/.exec(line.text.slice(line.words.at(-1)?.end ?? 0))?.[1]?.trim() ?? '';
  return { text: line.text, record: error ? null : record, line: line.number, error, comment };
}

class Parser {
  private origin: string;
  private owner: string | null = null;
  private defaultTtl: number | null = null;
  private lastTtl: number | null = null;
  /** Records of `$GENERATE` so far. */
  private made = 0;

  constructor(
    zone: string,
    private readonly otherwiseTtl: number | null,
    private readonly mayGenerate: number,
  ) {
    this.origin = `${zone}.`;
  }

  generates({ words: [first], fault }: Line): boolean {
    return !fault && first?.start === 0 && first.raw.toUpperCase() === '$GENERATE';
  }

  /** The records of a `$GENERATE`, up to its first error. Later records inherit nothing from them. */
  *generate(line: Line): Generator<FileEntry> {
    const before = { owner: this.owner, lastTtl: this.lastTtl };
    let { text } = line;
    const entry = { line: line.number, record: null, error: null, comment: '' };
    try {
      for (const one of this.templates(line)) {
        yield { ...entry, text, record: this.record(one) };
        text = '';
      }
    } catch (fault) {
      yield { ...entry, text, error: faultOf(fault) };
    } finally {
      Object.assign(this, before);
    }
  }

  /** The lines that a `$GENERATE` stands for. */
  private *templates({ words, number }: Line): Generator<Line> {
    const [, range, left, ...middle] = words;
    const right = middle.pop();
    if (!range || !left || !right || middle.length === 0) fail('the directive is not understood', number);
    const { start, stop, step, count } = rangeOf(range.raw) ?? fail('the range of numbers is not understood', number);
    this.made += count;
    if (this.made > this.mayGenerate)
      fail(say('the directives make more than {max} records in all', { max: this.mayGenerate }), number);
    const between = middle.map(({ raw }) => raw).join(' ');
    for (let i = start; i <= stop; i += step) {
      const owner = filled(left.raw, i);
      const rdata = filled(right.raw, i);
      if (owner === null || rdata === null)
        fail('the template is broken, or leads out of the range of numbers', number);
      const [line] = [...logicalLines(`${owner} ${between} ${rdata}`)];
      if (!line || line.fault) fail(line?.fault?.message ?? 'the directive is not understood', number);
      yield { ...line, number };
    }
  }

  /** @returns null for lines without record @throws Fault */
  read(line: Line): EntryRecord | null {
    if (line.text.startsWith(DISABLED)) return this.disabled(line);
    const first = line.words[0];
    if (!first || (this.mayGenerate && isSignature(line.words))) return null;
    return first.raw.startsWith('$') && first.start === 0 ? this.directive(line) : this.record(line);
  }

  private directive(line: Line): null {
    const [name, argument, ...rest] = line.words;
    const keyword = name?.raw.toUpperCase() ?? '';
    if (keyword === '$INCLUDE' || keyword === '$GENERATE') {
      const words = say('{directive} is not supported; put the records into the file itself', { directive: keyword });
      fail(words, line.number, true);
    }
    if (keyword === '$DATE' && this.mayGenerate) return null;
    if (keyword !== '$ORIGIN' && keyword !== '$TTL')
      fail(
        say('{directive} is not supported: remove the line', { directive: ascii(keyword).slice(0, 50) }),
        line.number,
      );
    if (!argument || rest.length) fail('the directive is not understood', line.number);
    if (keyword === '$ORIGIN') this.origin = this.absolute(argument, line);
    else this.defaultTtl = this.ttl(argument, line);
    return null;
  }

  private ttl(word: Word, line: Line): number {
    const ttl = parseTtl(word.raw);
    if (ttl !== null && ttl <= MAX_TTL) return ttl;
    // avoids follow-up errors in later records
    this.lastTtl ??= 0;
    return fail('not a TTL', line.number);
  }

  private absolute(word: Word, line: Line): string {
    if (word.raw === '@' && !word.quoted) return this.origin;
    if (this.mayGenerate && !word.quoted && BEFORE_ORIGIN.test(word.raw))
      return this.absolute({ ...word, raw: word.raw.slice(0, -2) }, line);
    if (word.raw.length + this.origin.length > MAX_NAME) fail('a name is too long', line.number);
    const name = canonicalName(word.raw);
    if (isAbsolute(name)) return name;
    return this.origin === '.' ? `${name}.` : `${name}.${this.origin}`;
  }

  /** A disabled record is independent: later records inherit nothing from it. */
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

    const ttl = this.ownTtl(words, line);
    if (ttl !== null) this.lastTtl = ttl;
    const type = this.type(words.shift(), line);
    if (words.length > MAX_WORDS) fail(say('a record has more than {max} words', { max: MAX_WORDS }), line.number);
    if (words.length === 0) fail(say('{type} without data', { type }), line.number);

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
    return type === 'SOA' ? { ...record, serial: soaSerial(words, line) } : record;
  }

  private type(word: Word | undefined, line: Line): string {
    const given = word?.raw.toUpperCase() ?? fail('a record without type', line.number);
    const type = this.mayGenerate ? knownName(given) : given;
    if (isType(type)) return type;
    const name = ascii(word?.raw ?? '').slice(0, 50);
    return fail(say('"{word}" is not a record type: correct it, or remove the line', { word: name }), line.number);
  }

  /** Takes TTL and class, which stand in either order, off the words. @returns null without a TTL */
  private ownTtl(words: Word[], line: Line): number | null {
    let ttl: number | null = null;
    let hasClass = false;
    for (let word = words[0]; word; word = words[0]) {
      if (!hasClass && /^(IN|CH|HS|CS)$/i.test(word.raw)) {
        if (word.raw.toUpperCase() !== 'IN') fail('only class IN is supported', line.number);
        hasClass = true;
      } else if (ttl === null && parseTtl(word.raw) !== null) ttl = this.ttl(word, line);
      else if (!this.mayGenerate || !AGE.test(word.raw)) break;
      words.shift();
    }
    return ttl;
  }

  /** Without `$TTL` and an earlier TTL, name servers use the last field of the SOA for the whole file. */
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
        // elsewhere parsers disagree on its meaning
        if (word.pair && type !== 'SVCB' && type !== 'HTTPS') fail('a quote inside a word', line.number);
        return word.quoted ? `"${ascii(word.raw)}"` : ascii(word.raw);
      })
      .join(' ');
  }
}

/** Whether a line is the signature of a transfer, as dig prints it: `key. 0 ANY TSIG hmac-sha256. …`. */
const isSignature = (words: readonly Word[]): boolean => words[2]?.raw === 'ANY' && words[3]?.raw === 'TSIG';

/** The mnemonic of `TYPE1`; empty: it is no number of a type. */
function knownName(type: string): string {
  if (!/^TYPE\d{1,5}$/.test(type)) return type;
  const number = Number(type.slice(4));
  return number > 0 && number <= 65_535 ? typeName(number) : '';
}

/** Where the serial stands in its line. @throws Fault */
function soaSerial(words: readonly Word[], line: Line): { start: number; end: number } {
  const serial = words[2];
  if (words.length !== 7 || !serial || !/^\d{1,10}$/.test(serial.raw) || Number(serial.raw) > 0xffffffff)
    fail('the SOA is broken', line.number);
  return { start: serial.start, end: serial.end };
}
