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
  fault: { message: string; line: number } | null;
}

const isBlank = (c: string): boolean => c === ' ' || c === '\t' || c === '\r' || c === '\n';

const BACKSLASH = 0x5c;

/** Length of the escape that starts at `at`; 0 when it is invalid. */
function escapeLength(text: string, at: number): number {
  const next = text[at + 1];
  if (next === undefined || next < '0' || next > '9') return next === undefined ? 0 : 2;
  const ddd = text.slice(at + 1, at + 4);
  return /^\d{3}$/.test(ddd) && Number(ddd) < 256 ? 4 : 0;
}

/**
 * The word at `start`, or an error message. A word with a quote at its start ends at the closing quote; a quote inside
 * is part of it.
 * @param file whether comments, parentheses and line ends are special as in master files; in plain rdata a line end is
 *   a blank, and the others are ordinary characters
 */
function wordAt(text: string, start: number, file: boolean): Word | string {
  const quoted = text[start] === '"';
  let inQuotes = quoted;
  let pair = false;
  let at = quoted ? start + 1 : start;
  for (;;) {
    const c = text[at];
    const ends = c === undefined || (file && c === '\n');
    if (inQuotes && ends) return 'a quote is not closed';
    if (ends || (!inQuotes && (isBlank(c) || (file && (c === ';' || c === '(' || c === ')'))))) break;
    if (c === '\\') {
      const length = file && text[at + 1] === '\n' ? 0 : escapeLength(text, at);
      if (length === 0) return 'a broken escape';
      at += length;
      continue;
    }
    if (c === '"') {
      if (quoted) return { raw: text.slice(start + 1, at), quoted, pair, start, end: at + 1 };
      inQuotes = !inQuotes;
      pair = true;
    }
    at++;
  }
  return { raw: text.slice(start, at), quoted, pair, start, end: at };
}

/** The octets of text in presentation form with escapes decoded; invalid escapes are kept. */
export function octets(raw: string): Buffer {
  const bytes = Buffer.from(raw, 'utf8');
  if (!raw.includes('\\')) return bytes;
  let to = 0;
  for (let at = 0; at < bytes.length; ) {
    const escaped = bytes[at] === BACKSLASH && at + 1 < bytes.length;
    const ddd = escaped ? /^\d{3}/.exec(bytes.toString('latin1', at + 1, at + 4))?.[0] : undefined;
    bytes[to++] = ddd ? Number(ddd) : (bytes[escaped ? at + 1 : at] as number);
    at += ddd ? 4 : escaped ? 2 : 1;
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
 * Words of rdata as octets.
 * @returns null when a quote is unclosed or inside a word, or an escape is invalid
 */
export function tokens(rdata: string): Token[] | null {
  const words = wordsOf(rdata);
  if (!words || words.some((word) => word.pair)) return null;
  return words.map((word) => {
    const bytes = octets(word.raw);
    return { ...word, bytes, text: bytes.toString('utf8') };
  });
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
  let at = 0;
  let number = 1;
  let open = 0;
  while (at < file.length) {
    const start = at;
    const first = number;
    const words: Word[] = [];
    let depth = 0;
    let fault: Line['fault'] = null;
    for (;;) {
      const c = file[at];
      if (c === undefined || (c === '\n' && depth === 0)) break;
      if (c === '\n') {
        number++;
        at++;
      } else if (isBlank(c)) at++;
      else if (c === ';') at = lineEnd(file, at);
      else if (c === '(') {
        depth++;
        at++;
      } else if (c === ')' && depth > 0) {
        depth--;
        at++;
      } else {
        const word = c === ')' ? 'a closing parenthesis without an opening one' : wordAt(file, at, true);
        if (typeof word === 'string') {
          fault ??= { message: word, line: number };
          const end = lineEnd(file, at);
          // in a line with an unclosed quote, a later parenthesis is probably meant as one
          if (c !== ')') depth = depthAfter(file.slice(at, end), depth);
          at = end;
        } else {
          words.push({ ...word, start: at - start, end: word.end - start });
          at = word.end;
          if (words.length % PAUSE === 0) yield null;
        }
      }
    }
    if (depth > 0) {
      fault ??= { message: 'parentheses are not closed: the file is cut short', line: first };
      at = open++ < MAX_OPEN ? nextOwner(file, start) : file.length;
      number = first + count(file, start, at);
    }
    if (file[at] === '\n') {
      at++;
      number++;
    }
    yield { text: file.slice(start, at), words, number: first, fault };
  }
}

function lineEnd(file: string, at: number): number {
  const end = file.indexOf('\n', at);
  return end < 0 ? file.length : end;
}

/**
 * End of the line before the next one that starts neither with a blank nor with something typical inside parentheses.
 */
function nextOwner(file: string, start: number): number {
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
