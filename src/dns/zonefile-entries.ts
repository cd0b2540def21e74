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

const UNITS: Record<string, number> = { w: 604800, d: 86400, h: 3600, m: 60, s: 1 };

/** Seconds of `3600` or `1h30m`, null when it is no TTL. */
export function parseTtl(text: string): number | null {
  if (!/^(\d+[wdhms]?)+$/i.test(text)) return null;
  let seconds = 0;
  for (const [, digits, unit] of text.matchAll(/(\d+)([wdhms]?)/gi)) {
    seconds += Number(digits) * (UNITS[unit?.toLowerCase() || 's'] ?? 1);
  }
  return seconds;
}

/** Octets above ASCII as `\DDD`, so that the text is plain ASCII and means the same. */
const ascii = (text: string): string =>
  text.replace(/[^\x20-\x7e]/g, (c) => `\\${String(c.charCodeAt(0)).padStart(3, '0')}`);

/** One spelling for one name: lower case, no escapes that are not needed. */
const canonicalName = (name: string): string =>
  ascii(name)
    .replace(/\\(\d{3})/g, (all, ddd: string) => {
      const c = String.fromCharCode(Number(ddd));
      return /[a-z0-9_*/-]/i.test(c) ? c : all;
    })
    .replace(/\\([a-z_*/-])/gi, '$1')
    .toLowerCase();

const isAbsolute = (name: string): boolean => /(^|[^\\])(\\\\)*\.$/.test(name);

/** Is told what is wrong, the line, and whether it is right but not supported; must throw. */
export type Fail = (message: string, line: number, unsupported?: boolean) => never;

/**
 * Reads a whole file.
 * @param zone the origin at its start, without final dot
 */
export function parseEntries(text: string, zone: string, fail: Fail): Entry[] {
  const parser = new Parser(zone, fail);
  return logicalLines(text, (message, number) => parser.fail(message, number)).map((line) => parser.entry(line));
}

class Parser {
  private origin: string;
  private owner: string | null = null;
  private defaultTtl: number | null = null;
  private lastTtl: number | null = null;

  constructor(
    zone: string,
    readonly fail: Fail,
  ) {
    this.origin = `${zone}.`;
  }

  entry(line: Line): Entry {
    const { text, words } = line;
    if (text.startsWith(DISABLED)) return { text, record: this.disabled(line) };
    const first = words[0];
    if (!first) return { text, record: null };
    if (first.text.startsWith('$') && first.start === 0) {
      this.directive(line, words);
      return { text, record: null };
    }
    return { text, record: this.record(line) };
  }

  private directive(line: Line, [name, argument, ...rest]: Word[]): void {
    const keyword = name?.text.toUpperCase() ?? '';
    if (keyword === '$INCLUDE' || keyword === '$GENERATE') {
      this.fail(`${keyword} is not supported; put the records into the file itself`, line.number, true);
    }
    if ((keyword !== '$ORIGIN' && keyword !== '$TTL') || !argument || rest.length) {
      this.fail('the directive is not understood', line.number);
    }
    if (keyword === '$ORIGIN') this.origin = this.absolute(argument);
    else this.defaultTtl = this.ttl(argument, line);
  }

  private ttl(word: Word, line: Line): number {
    const ttl = parseTtl(word.text);
    return ttl === null || ttl > MAX_TTL ? this.fail('not a TTL', line.number) : ttl;
  }

  private absolute(word: Word): string {
    if (word.text === '@' && !word.quoted) return this.origin;
    const name = canonicalName(word.text);
    if (isAbsolute(name)) return name;
    return this.origin === '.' ? `${name}.` : `${name}.${this.origin}`;
  }

  /** A disabled record stands outside the flow: what follows inherits nothing from it. */
  private disabled(line: Line): EntryRecord {
    const { owner, lastTtl, defaultTtl } = this;
    const [inner] = logicalLines(line.text.slice(DISABLED.length), (message) => this.fail(message, line.number));
    if (!inner?.words.length || inner.words[0]?.start !== 0) this.fail('a disabled record is broken', line.number);
    const record = this.record({ ...inner, number: line.number });
    Object.assign(this, { owner, lastTtl, defaultTtl });
    return { ...record, enabled: false };
  }

  private record(line: Line): EntryRecord {
    const words = [...line.words];
    const inheritsOwner = (words[0] as Word).start > 0 && /^\s/.test(line.text);
    const ownerWord = inheritsOwner ? null : (words.shift() as Word);
    if (ownerWord) this.owner = this.absolute(ownerWord);
    const owner = this.owner ?? this.fail('the first record has no owner', line.number);
    const ownerEnd = ownerWord ? ownerWord.end : (/^[ \t]*/.exec(line.text)?.[0].length ?? 0);

    let ttl: number | null = null;
    let hasClass = false;
    for (let word = words[0]; word; word = words[0]) {
      if (!hasClass && /^(IN|CH|HS|CS)$/i.test(word.text)) {
        if (word.text.toUpperCase() !== 'IN') this.fail('only class IN is supported', line.number);
        hasClass = true;
      } else if (ttl === null && parseTtl(word.text) !== null) ttl = this.ttl(word, line);
      else break;
      words.shift();
    }
    const type = words.shift()?.text.toUpperCase() ?? this.fail('a record without type', line.number);
    if (!isType(type)) this.fail('not a record type', line.number);
    if (words.length === 0) this.fail(`${type} without data`, line.number);

    const rdata = this.rdata(type, words, line);
    const known = ttl ?? this.defaultTtl ?? this.lastTtl ?? this.soaMinimum(type, words, line);
    if (ttl !== null) this.lastTtl = ttl;
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
    if (words.length !== 7 || !serial || !/^\d{1,10}$/.test(serial.text) || Number(serial.text) > 0xffffffff)
      this.fail('the SOA is broken', line.number);
    return { ...record, serial: { start: serial.start, end: serial.end } };
  }

  /** Without `$TTL` and without a TTL before, name servers take the last field of the SOA for the whole file. */
  private soaMinimum(type: string, words: Word[], line: Line): number {
    const last = words.at(-1);
    if (type !== 'SOA' || !last) return this.fail('a record without TTL, and no $TTL before it', line.number);
    this.defaultTtl = this.ttl(last, line);
    return this.defaultTtl;
  }

  private rdata(type: string, words: Word[], line: Line): string {
    const fields = words[0]?.text === '\\#' ? [] : fieldsOf(type);
    return words
      .map((word, i) => {
        if (fields[i] === 'name') return this.absolute(word);
        // "key="value"" is known in service parameters only; elsewhere readers differ in what it means
        if (!word.quoted && word.text.includes('"') && type !== 'SVCB' && type !== 'HTTPS') {
          this.fail('a quote inside a word', line.number);
        }
        return word.quoted ? `"${ascii(word.text)}"` : ascii(word.text);
      })
      .join(' ');
  }
}
