import { Buffer } from 'node:buffer';
import type { Duplex } from 'node:stream';

/** No answer came in the time that there was. */
export class TooLate extends Error {}

/** Messages of a stream, each behind its length in two octets (RFC 1035 section 4.2.2). */
export async function* framed(socket: Duplex, timeoutMs: number): AsyncGenerator<Buffer> {
  const arm = () => setTimeout(() => socket.destroy(new TooLate(`no answer within ${timeoutMs} ms`)), timeoutMs);
  let timer = arm();
  // put together when there is enough of them: a message may come octet by octet
  let chunks: Buffer[] = [];
  let size = 0;
  let wanted = 2;
  try {
    for await (const chunk of socket) {
      chunks.push(chunk as Buffer);
      size += (chunk as Buffer).length;
      if (size < wanted) continue;
      let pending = Buffer.concat(chunks, size);
      while (pending.length >= 2 && pending.length >= 2 + pending.readUInt16BE(0)) {
        const end = 2 + pending.readUInt16BE(0);
        clearTimeout(timer);
        yield pending.subarray(2, end);
        timer = arm();
        pending = pending.subarray(end);
      }
      chunks = [pending];
      size = pending.length;
      wanted = size < 2 ? 2 : 2 + pending.readUInt16BE(0);
    }
  } finally {
    clearTimeout(timer);
  }
}

/** A message with its length before it. */
export const frame = (message: Buffer): Buffer =>
  Buffer.concat([Buffer.from([message.length >> 8, message.length & 255]), message]);
