import { parseJson } from '../../../platform/common/json-weight.js';
import { cutShort, ProviderError } from './errors.js';

/** octets of a document whose entries are made at once */
const PIECE = 65_536;
/** octets among which its list begins, as a rule */
const HEAD = 262_144;
/** octets of one entry, and of all before the list and behind it: each is looked through and made at once */
const MOST = 4_194_304;

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [BRACKET, BRACE, END_OF_BRACKET, END_OF_BRACE] = [0x5b, 0x7b, 0x5d, 0x7d];
const isOpening = (octet: number | undefined): boolean => octet === BRACKET || octet === BRACE;
const isClosing = (octet: number | undefined): boolean => octet === END_OF_BRACKET || octet === END_OF_BRACE;

/** Where the text ends that begins with this quote. */
function endOfText(document: Buffer, quote: number): number {
  let at = quote + 1;
  while (at < document.length && document[at] !== QUOTE) at += document[at] === BACKSLASH ? 2 : 1;
  return at;
}

/** The first octet from there on that is no blank. */
function behindBlanks(document: Buffer, from: number): number {
  let at = from;
  while ((document[at] ?? 33) <= 32) at++;
  return at;
}

/** Where the list of this name begins, of an object; -1 where it has none. */
function listAt(document: Buffer, name: string): number {
  for (let at = 0, depth = 0; at < document.length; at++) {
    const octet = document[at];
    if (isOpening(octet)) depth++;
    else if (isClosing(octet)) depth--;
    if (octet !== QUOTE) continue;
    const end = endOfText(document, at);
    const colon = behindBlanks(document, end + 1);
    const isIt = depth === 1 && document[colon] === COLON && document.toString('utf8', at + 1, end) === name;
    const list = behindBlanks(document, colon + 1);
    if (isIt) return document[list] === BRACKET ? list : -1;
    at = end;
  }
  return -1;
}

/** The next end of entries behind `from` that lets a piece be large enough: a comma, or the end of the list. */
function endOfPiece(document: Buffer, from: number): number {
  let depth = 0;
  for (let at = from; at < document.length; at++) {
    const octet = document[at];
    if (octet === QUOTE) at = endOfText(document, at);
    else if (isOpening(octet)) depth++;
    else if (isClosing(octet) && depth-- === 0) return at;
    else if (octet === COMMA && depth === 0 && at - from >= PIECE) return at;
  }
  return document.length;
}

/** Takes so many octets from the front of a list of chunks, or a few more. */
function taken(chunks: Uint8Array[], octets: number): Uint8Array[] {
  let [count, size] = [0, 0];
  while (count < chunks.length && size < octets) size += chunks[count++]?.length ?? 0;
  return chunks.splice(0, count);
}

const tooLong = () =>
  new ProviderError('unavailable', `The provider's answer has ${MOST / 1_048_576} MiB and more in one part`, false);

/** A part of a document in which its list begins. @throws ProviderError, SyntaxError as `entriesOf` */
function beginning(chunks: Uint8Array[], name: string): Buffer {
  const part = Buffer.concat(taken(chunks, HEAD));
  if (listAt(part, name) >= 0) return part;
  const more = Buffer.concat([part, ...taken(chunks, MOST)]);
  if (listAt(more, name) >= 0) return more;
  if (chunks.length) throw tooLong();
  parseJson(more.toString('utf8'));
  throw cutShort(name);
}

/** A part with as much again behind it: an entry may be long. @throws ProviderError as `entriesOf` */
function longer(part: Buffer, chunks: Uint8Array[]): Buffer {
  if (part.length > MOST) throw tooLong();
  return Buffer.concat([part, ...taken(chunks, Math.max(PIECE, part.length))]);
}

/**
 * The entries of one list of an object in JSON, in pieces: of a long document no more is made at once, and what was
 * read of it is let go. The values are made by `JSON.parse`; only where they begin and end is looked for here. Whether
 * it is whole is known with the end of the last piece alone: nothing may be made of the pieces before.
 * @param chunks the document as it came; it is emptied
 * @throws ProviderError where there is no such list, or one part is too long; SyntaxError for a document that is cut,
 * or of another form
 */
export function* entriesOf<T>(chunks: Uint8Array[], name: string): Generator<T[]> {
  let part = beginning(chunks, name);
  let from = listAt(part, name) + 1;
  const head = part.toString('utf8', 0, from);
  for (let first = true; ; first = false) {
    let end = endOfPiece(part, from);
    while (end >= part.length && chunks.length) {
      part = longer(part.subarray(from), chunks);
      from = 0;
      end = endOfPiece(part, from);
    }
    const entries = parseJson(`[${part.toString('utf8', from, end)}]`) as T[];
    const isLast = part[end] !== COMMA;
    if (!entries.length && !(isLast && first)) throw new SyntaxError('an entry is missing');
    if (isLast) assertWhole(head, part.subarray(end), chunks, name);
    if (entries.length) yield entries;
    if (isLast) return;
    from = end + 1;
  }
}

/** That all around a list, which is left out, is a document. @throws ProviderError, SyntaxError as `entriesOf` */
function assertWhole(head: string, end: Uint8Array, chunks: Uint8Array[], name: string): void {
  const behind = Buffer.concat([end, ...taken(chunks, MOST)]);
  if (chunks.length) throw tooLong();
  const document = parseJson(head + behind.toString('utf8')) as Record<string, unknown[]>;
  // one that says it twice means the second one
  if (document[name]?.length !== 0) throw new SyntaxError(`${name} is there twice`);
}
