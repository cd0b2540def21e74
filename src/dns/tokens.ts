import type { FieldText } from '../platform/common/words/field-text.js';

/**
 * Tokenizer of presentation form (RFC 1035 section 5.1): words with quotes and escapes `\X` and `\DDD`, and, in master
 * files, comments and multi-line parentheses.
 */

export interface Word {
  /** As written: with escapes, without the quotes of a quoted string. */
  raw: string;
  /** Distinguishes `"@"` from `@`. */
  quoted: boolean;
  /** Has a quote after its start, as service parameters may: `key="a b"` (RFC 9460 section 2.1). */
  pair: boolean;
  /** Offsets in the text of its line, including quotes. */
  start: number;
  end: number;
}

/** A word of rdata with its escapes decoded. */
export interface Token extends Word {
  /** `bytes` decoded as UTF-8. */
  text: string;
  bytes: Buffer;
}

/** A logical line, which parentheses may extend over several lines. */
export interface Line {
  /** With its line ends. */
  text: string;
  /** Without comments and parentheses. */
  words: Word[];
  /** Number of its first line, from 1. */
  number: number;
  /** Error and its line number; the words must not be used then. */
  fault: { message: FieldText; line: number } | null;
}

const isBlank = (c: string | undefined): boolean => c === ' ' || c === '\t' || c === '\r' || c === '\n';

const BACKSLASH = 0x5c;

/** Length of the character or escape at `at`; 0 when the escape is invalid. */
function lengthAt(text: string, at: number, file: boolean): number {
  if (text[at] !== '\\') return 1;
  const next = text[at + 1];
  if (next === undefined || endsLine(next, file)) return 0;
  if (next < '0' || next > '9') return 2;
  const ddd = text.slice(at + 1, at + 4);
  return /^\d{3}$/.test(ddd) && Number(ddd) < 256 ? 4 : 0;
}

const endsLine = (c: string | undefined, file: boolean): boolean => c === undefined || (file && c === '\n');

const endsWord = (c: string | undefined, file: boolean): boolean =>
  c === undefined || isBlank(c) || (file && (c === ';' || c === '(' || c === ')'));

/**
 * The word at `start`, or an error message. A word with a quote at its start ends at the closing quote; a quote inside
 * is part of it.
 * @param file whether comments, parentheses and line ends are special as in master files; in plain rdata a line end is
 *   a blank, and the others are ordinary characters
 */
function wordAt(text: string, start: number, file: boolean): Word | FieldText {
  if (text[start] === '"') return quotedAt(text, start, file);
  let inQuotes = false;
  let pair = false;
  let at = start;
  while (inQuotes ? !endsLine(text[at], file) : !endsWord(text[at], file)) {
    if (text[at] === '"') {
      inQuotes = !inQuotes;
      pair = true;
    }
    const length = lengthAt(text, at, file);
    if (length === 0) return 'a broken escape';
    at += length;
  }
  if (inQuotes) return 'a quote is not closed';
  return { raw: text.slice(start, at), quoted: false, pair, start, end: at };
}

function quotedAt(text: string, start: number, file: boolean): Word | FieldText {
  let at = start + 1;
  while (text[at] !== '"') {
    if (endsLine(text[at], file)) return 'a quote is not closed';
    const length = lengthAt(text, at, file);
    if (length === 0) return 'a broken escape';
    at += length;
  }
  return { raw: text.slice(start + 1, at), quoted: true, pair: false, start, end: at + 1 };
}

/** The octet that an escape stands for, and the length of the escape; a backslash at the end stands for itself. */
export function unescaped(bytes: Buffer, at: number): { octet: number; length: number } {
  const ddd = /^\d{3}/.exec(bytes.toString('latin1', at + 1, at + 4))?.[0];
  return ddd ? { octet: Number(ddd) & 255, length: 4 } : { octet: bytes[at + 1] ?? BACKSLASH, length: 2 };
}

/** The octets of text in presentation form with escapes decoded; invalid escapes are kept. */
export function octets(raw: string): Buffer {
  const bytes = Buffer.from(raw, 'utf8');
  if (!raw.includes('\\')) return bytes;
  let to = 0;
  for (let at = 0; at < bytes.length; ) {
    const octet = bytes[at] as number;
    const escaped = octet === BACKSLASH ? unescaped(bytes, at) : null;
    bytes[to++] = escaped?.octet ?? octet;
    at += escaped?.length ?? 1;
  }
  return bytes.subarray(0, to);
}

/**
 * Splits rdata in presentation form into its words. Quoted strings may contain blanks and line ends.
 * @returns null when a quote is not closed or an escape is invalid
 */
export function wordsOf(rdata: string): Word[] | null {
  const words: Word[] = [];
  for (let at = 0; at < rdata.length; ) {
    if (isBlank(rdata[at] as string)) {
      at++;
      continue;
    }
    const word = wordAt(rdata, at, false);
    if (typeof word === 'string') return null;
    words.push(word);
    at = word.end;
  }
  return words;
}

/**
 * The octets of all words of rdata, one behind the other.
 * @returns null as `tokens`, and when there are none
 */
export function joinedOctets(rdata: string): Buffer | null {
  const words = wordsOf(rdata);
  if (!words?.length || words.some((word) => word.pair)) return null;
  return octets(words.map(({ raw }) => raw).join(''));
}

/**
 * Words of rdata as octets.
 * @returns null when a quote is unclosed or inside a word, or an escape is invalid
 */
export function tokens(rdata: string): Token[] | null {
  const words = wordsOf(rdata);
  if (!words || words.some((word) => word.pair)) return null;
  return words.map(tokenOf);
}

/** A word with its escapes decoded. */
export function tokenOf(word: Word): Token {
  const bytes = octets(word.raw);
  return { ...word, bytes, text: bytes.toString('utf8') };
}

/** Where a master file is read, and how many parentheses are open there. */
interface Place {
  at: number;
  /** of the line */
  number: number;
  depth: number;
}

/**
 * Goes on over blanks, comments and parentheses, and over line ends inside of these.
 * @returns whether there is a word before the end of the logical line
 */
function toWord(file: string, place: Place): boolean {
  for (let c = file[place.at]; c !== undefined; c = file[++place.at]) {
    if (c === '\n' && place.depth === 0) return false;
    if (c === '\n') place.number++;
    else if (c === '(') place.depth++;
    else if (c === ')' && place.depth > 0) place.depth--;
    else if (c === ';') place.at = lineEnd(file, place.at) - 1;
    else if (!isBlank(c)) return true;
  }
  return false;
}

/** Leaves out the rest of a line after an error. */
function toLineEnd(file: string, place: Place): void {
  const end = lineEnd(file, place.at);
  // in a line with an unclosed quote, a later parenthesis is probably meant as one
  if (file[place.at] !== ')') place.depth = depthAfter(file.slice(place.at, end), place.depth);
  place.at = end;
}

/** Maximum recoveries from an unclosed parenthesis, each of which costs as much as the whole file. */
const MAX_OPEN = 4;

/** Words inside parentheses after which the caller may yield to the event loop. */
const PAUSE = 1000;

/**
 * Splits a file into logical lines, whose texts joined are the file. After an error it continues where the next line
 * seems to begin, so that all errors are found. Inside a long line it yields null now and then, so that the caller can
 * yield to the event loop.
 */
export function* logicalLines(file: string): Generator<Line | null> {
  const place: Place = { at: 0, number: 1, depth: 0 };
  let open = 0;
  while (place.at < file.length) {
    const { at: start, number: first } = place;
    const words: Word[] = [];
    let fault: Line['fault'] = null;
    place.depth = 0;
    while (toWord(file, place)) {
      const stray = file[place.at] === ')' && 'a closing parenthesis without an opening one';
      const word = stray || wordAt(file, place.at, true);
      if (typeof word === 'string') {
        fault ??= { message: word, line: place.number };
        toLineEnd(file, place);
        continue;
      }
      words.push({ ...word, start: word.start - start, end: word.end - start });
      place.at = word.end;
      if (words.length % PAUSE === 0) yield null;
    }
    if (place.depth > 0) {
      fault ??= { message: 'parentheses are not closed: the file is cut short', line: first };
      place.at = nextOwner(file, start, open++);
      place.number = first + count(file, start, place.at);
    }
    if (file[place.at] === '\n') {
      place.at++;
      place.number++;
    }
    yield { text: file.slice(start, place.at), words, number: first, fault };
  }
}

function lineEnd(file: string, at: number): number {
  const end = file.indexOf('\n', at);
  return end < 0 ? file.length : end;
}

/**
 * End of the line before the next one that starts neither with a blank nor with something typical inside parentheses;
 * that of the file after too many recoveries.
 */
function nextOwner(file: string, start: number, recoveries: number): number {
  if (recoveries >= MAX_OPEN) return file.length;
  const begin = /\n(?=[^\s;()])/g;
  begin.lastIndex = start;
  return begin.exec(file)?.index ?? file.length;
}

const depthAfter = (text: string, depth: number): number =>
  (text.match(/[()]/g) ?? []).reduce((now, c) => (c === '(' ? now + 1 : Math.max(0, now - 1)), depth);

function count(file: string, start: number, end: number): number {
  let lines = 0;
  for (let at = file.indexOf('\n', start); at >= 0 && at < end; at = file.indexOf('\n', at + 1)) lines++;
  return lines;
}
