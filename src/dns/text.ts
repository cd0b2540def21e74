/**
 * Presentation form (RFC 1035 section 5.1) of character strings and of TXT rdata. Internally a TXT value is the plain
 * text; quotes, escapes and the split at 255 bytes exist only towards providers.
 */

import { InvalidRecord } from '../platform/common/errors.js';
import { say } from '../platform/common/words/field-text.js';
import { joinedOctets } from './tokens.js';

export { tokens } from './tokens.js';

/** Octets as one quoted string: printable ASCII unchanged, `"` and `\` escaped, all others as `\DDD`. */
export function quoteBytes(bytes: Uint8Array): string {
  let out = '"';
  for (const b of bytes) {
    if (b === 0x22 || b === 0x5c) out += `\\${String.fromCharCode(b)}`;
    else if (b >= 0x20 && b < 0x7f) out += String.fromCharCode(b);
    else out += `\\${String(b).padStart(3, '0')}`;
  }
  return `${out}"`;
}

/** Splits a TXT value into character strings of at most 255 bytes; the empty text is one empty string. */
export function txtStrings(text: string): Buffer[] {
  const bytes = Buffer.from(text, 'utf8');
  const out: Buffer[] = [];
  for (let i = 0; i < bytes.length; i += 255) out.push(bytes.subarray(i, i + 255));
  return out.length ? out : [Buffer.alloc(0)];
}

/** The octets of a TXT record as text; null when they are not UTF-8 (such a record is read-only). */
export function utf8OrNull(bytes: Buffer): string | null {
  const text = bytes.toString('utf8');
  return Buffer.from(text, 'utf8').equals(bytes) ? text : null;
}

/** TXT rdata in presentation form for a text of any length. */
export const txtPresentation = (text: string): string => txtStrings(text).map(quoteBytes).join(' ');

/** The text of TXT rdata in presentation form; null when it is malformed or not UTF-8. */
export function txtFromPresentation(rdata: string): string | null {
  const bytes = joinedOctets(rdata);
  return bytes && utf8OrNull(bytes);
}

/**
 * Parses user input of a TXT value: well-formed quoted strings (`"v=spf1 -all"`, `"part one" "part two"`) are read as
 * presentation form, everything else as plain text.
 */
export function txtFromInput(input: string): string {
  if (!/^"(?:[^"\\]|\\[\s\S])*"(?:\s+"(?:[^"\\]|\\[\s\S])*")*$/.test(input)) return input;
  return txtFromPresentation(input) ?? input;
}

/**
 * A stored text as shown in the API: unchanged, unless `txtFromInput` would strip its quotes or `assertStraightQuotes`
 * would reject it; then in presentation form.
 */
export const txtShown = (text: string): string =>
  txtFromInput(text) === text && !IN_CURLY.test(text) ? text : txtPresentation(text);

const CURLY = /[\u2018-\u201f\u00ab\u00bb\u2039\u203a]/;
const IN_CURLY = new RegExp(`^\\s*${CURLY.source}[^]*${CURLY.source}\\s*$`);

/**
 * Rejects typographic quotes, which word processors write in place of straight ones: anywhere in a value, in a TXT
 * record at both ends.
 * @throws InvalidRecord at `value`
 */
export function assertStraightQuotes(type: string, input: string): void {
  const quote = CURLY.exec(input)?.[0];
  if (quote === undefined || (type === 'TXT' && !IN_CURLY.test(input))) return;
  throw new InvalidRecord('value', say('has the typographic quote {quote}: write straight quotes (")', { quote }));
}
