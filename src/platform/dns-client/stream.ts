import { Buffer } from 'node:buffer';
import type { Duplex } from 'node:stream';
import { after } from '../common/clock.js';

/** The answer timed out. */
export class TooLate extends Error {}

/** Messages of a stream, each preceded by its length in two octets (RFC 1035 section 4.2.2). */
export async function* framed(socket: Duplex, timeoutMs: number): AsyncGenerator<Buffer> {
  const arm = () => after(timeoutMs, () => socket.destroy(new TooLate(`no answer within ${timeoutMs} ms`)));
  let cancel = arm();
  // concatenated only once complete: a message may arrive octet by octet
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
        cancel();
        yield pending.subarray(2, end);
        cancel = arm();
        pending = pending.subarray(end);
      }
      chunks = [pending];
      size = pending.length;
      wanted = size < 2 ? 2 : 2 + pending.readUInt16BE(0);
    }
  } finally {
    cancel();
  }
}

/** A message preceded by its length. */
export const frame = (message: Buffer): Buffer =>
  Buffer.concat([Buffer.from([message.length >> 8, message.length & 255]), message]);
