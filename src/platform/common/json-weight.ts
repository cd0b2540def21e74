import { Buffer } from 'node:buffer';

/** The deepest nesting that is parsed: no text that is taken is as deep, and each level takes a hundred octets. */
const DEEPEST = 100;
const [QUOTE, BACKSLASH] = Buffer.from('"\\');
/** what brackets do to the depth, by their octets */
const STEP = new Int8Array(256);
for (const opening of Buffer.from('[{')) STEP[opening] = 1;
for (const closing of Buffer.from(']}')) STEP[closing] = -1;
/** what begins a field or an item */
const PARTS = new Uint8Array(256);
for (const beginning of Buffer.from('[{,')) PARTS[beginning] = 1;

/** Why JSON in UTF-8 would hold others up if it were parsed; null: it would not. @param most fields and items */
export function tooMuch(bytes: Uint8Array, most: number): 'deep' | 'many' | null {
  let depth = 0;
  let parts = 0;
  let isText = false;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number;
    if (byte === QUOTE) isText = !isText;
    else if (isText) i += byte === BACKSLASH ? 1 : 0;
    else {
      depth += STEP[byte] as number;
      parts += PARTS[byte] as number;
      if (depth > DEEPEST) return 'deep';
    }
  }
  return parts > most ? 'many' : null;
}

/** Parses JSON of others. @throws SyntaxError for what is none, is nested too deeply, or has too many parts */
export function parseJson(text: string, most = 10_000_000): unknown {
  const why = tooMuch(Buffer.from(text), most);
  if (why) throw new SyntaxError(`too ${why}`);
  return JSON.parse(text);
}
