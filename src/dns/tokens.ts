/** Words and logical lines of a master file (RFC 1035 section 5.1). */

/** A word of a logical line; `text` is as in the file, escapes kept, the quotes of a quoted string left out. */
export interface Word {
  text: string;
  quoted: boolean;
  /** offsets in the text of its line, quotes included */
  start: number;
  end: number;
}

/** A line, or several that parentheses make one. */
export interface Line {
  /** with its line ends */
  text: string;
  /** without comments and parentheses */
  words: Word[];
  /** of the first line, from 1 */
  number: number;
}

const BLANK = /[ \t\r]/;

/**
 * Splits a file into logical lines; joined again, their texts are the file.
 * @param fail is called with what is wrong and the line number, and must throw
 */
export function logicalLines(file: string, fail: (message: string, line: number) => never): Line[] {
  const lines: Line[] = [];
  let at = 0;
  let number = 1;
  while (at < file.length) {
    const start = at;
    const first = number;
    const words: Word[] = [];
    let depth = 0;
    for (;;) {
      const c = file[at];
      if (c === undefined || (c === '\n' && depth === 0)) break;
      if (c === '\n') {
        number++;
        at++;
      } else if (BLANK.test(c)) at++;
      else if (c === ';') {
        while (at < file.length && file[at] !== '\n') at++;
      } else if (c === '(') {
        depth++;
        at++;
      } else if (c === ')') {
        if (--depth < 0) fail('a closing parenthesis without an opening one', number);
        at++;
      } else {
        const end = wordEnd(file, at, (message) => fail(message, number));
        const quoted = c === '"';
        const text = quoted ? file.slice(at + 1, end - 1) : file.slice(at, end);
        for (const [, ddd] of text.replaceAll('\\\\', '').matchAll(/\\(\d{1,3})/g)) {
          if (ddd?.length !== 3 || Number(ddd) > 255) fail('a broken escape', number);
        }
        words.push({ text, quoted, start: at - start, end: end - start });
        at = end;
      }
    }
    if (depth > 0) fail('parentheses are not closed: the file is cut short', first);
    if (file[at] === '\n') {
      at++;
      number++;
    }
    lines.push({ text: file.slice(start, at), words, number: first });
  }
  return lines;
}

/**
 * Where the word at `start` ends. A quote at its start makes it end at the closing quote, a quote inside (`key="a b"`)
 * is part of it.
 */
function wordEnd(file: string, start: number, fail: (message: string) => never): number {
  let inQuotes = false;
  let at = start;
  for (; ; at++) {
    const c = file[at];
    if (inQuotes && (c === undefined || c === '\n')) fail('a quote is not closed');
    if (c === undefined || c === '\n') return at;
    if (c === '\\') {
      at++;
      if (file[at] === undefined || file[at] === '\n') fail('a broken escape');
    } else if (c === '"') {
      inQuotes = !inQuotes;
      if (!inQuotes && file[start] === '"') return at + 1;
    } else if (!inQuotes && (BLANK.test(c) || c === ';' || c === '(' || c === ')')) return at;
  }
}
