import type { Buffer } from 'node:buffer';
import { json, type RequestHandler } from 'express';

type Options = NonNullable<Parameters<typeof json>[0]>;

/** The deepest nesting that is parsed; no body that is taken is as deep. */
const DEEPEST = 100;
/** octets of quotes, backslashes and brackets */
const [QUOTE, BACKSLASH, ARRAY, ARRAY_END, OBJECT, OBJECT_END] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d];

/** Parses JSON in UTF-8; what is nested too deeply, which would hold others up for a second, is refused unparsed. */
export const jsonParser = ({ verify, ...options }: Options = {}): RequestHandler =>
  json({
    strict: false,
    ...options,
    verify(request, response, bytes, charset) {
      // JSON is UTF-8 (RFC 8259 section 8.1); in another one the brackets would be other octets
      if (charset !== 'utf-8') throw Object.assign(new Error(`charset ${charset}`), { type: 'charset.unsupported' });
      if (isDeep(bytes)) throw Object.assign(new Error('nested too deeply'), { type: 'entity.too.deep' });
      verify?.(request, response, bytes, charset);
    },
  });

function isDeep(bytes: Buffer): boolean {
  let depth = 0;
  let isText = false;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i];
    if (byte === QUOTE) isText = !isText;
    else if (isText) i += byte === BACKSLASH ? 1 : 0;
    else if (byte === ARRAY || byte === OBJECT) depth++;
    else if (byte === ARRAY_END || byte === OBJECT_END) depth--;
    if (depth > DEEPEST) return true;
  }
  return false;
}
