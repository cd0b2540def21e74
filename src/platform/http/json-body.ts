import { Buffer } from 'node:buffer';
import { json, type RequestHandler } from 'express';

type Options = NonNullable<Parameters<typeof json>[0]>;

/** The deepest nesting that is parsed; no body that is taken is as deep. */
const DEEPEST = 100;
const [QUOTE, BACKSLASH] = Buffer.from('"\\');
/** what brackets do to the depth, by their octets */
const STEP = new Int8Array(256);
for (const opening of Buffer.from('[{')) STEP[opening] = 1;
for (const closing of Buffer.from(']}')) STEP[closing] = -1;

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
  for (let i = 0; i < bytes.length && depth <= DEEPEST; i++) {
    const byte = bytes[i] as number;
    if (byte === QUOTE) isText = !isText;
    else if (isText) i += byte === BACKSLASH ? 1 : 0;
    else depth += STEP[byte] as number;
  }
  return depth > DEEPEST;
}
