import { Readable } from 'node:stream';
import { StreamableFile } from '@nestjs/common';
import type { Response } from 'express';

/** characters up to which an answer is sent whole, with its length; and of each piece of a longer one */
const PIECE = 65_536;

/**
 * An answer that is made while it is sent, as fast as the client reads. A failure before its first piece is answered as
 * any other; a later one closes the connection, so that nobody takes a part for the whole.
 */
export async function inPieces(texts: AsyncGenerator<string>, type = 'application/json'): Promise<StreamableFile> {
  const pieces = joined(texts);
  const first = await pieces.next();
  const text = first.done ? '' : first.value;
  if (text.length < PIECE) {
    const bytes = Buffer.from(text);
    return new StreamableFile(bytes, { type, length: bytes.length });
  }
  async function* all(): AsyncGenerator<string> {
    yield text;
    yield* pieces;
  }
  const file = new StreamableFile(Readable.from(all(), { highWaterMark: 1 }), { type });
  return file.setErrorHandler((_error, response) => (response as unknown as Response).destroy());
}

/** Short texts as long pieces; the last one is shorter. */
async function* joined(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let part: string[] = [];
  let size = 0;
  for await (const text of texts) {
    part.push(text);
    size += text.length;
    if (size < PIECE) continue;
    yield part.join('');
    part = [];
    size = 0;
  }
  yield part.join('');
}

/** A list in JSON. */
export async function* listOf(items: AsyncIterable<string>): AsyncGenerator<string> {
  let separator = '[';
  for await (const item of items) {
    yield separator + item;
    separator = ',';
  }
  yield separator === '[' ? '[]' : ']';
}
