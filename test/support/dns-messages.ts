import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { sign, TsigVerifier } from '../../src/dns/tsig.js';
import { decode, encode, type Message, OPCODE, TRANSFER, TYPE, type WireRecord } from '../../src/dns/wire.js';
import { frame, framed } from '../../src/platform/dns-client/stream.js';
import type { Key } from './nsupdate.js';

const secretOf = ({ secret, ...key }: Key) => ({ ...key, secret: Buffer.from(secret, 'base64') });

/** A signed update with EDNS, as bytes. */
export function signedUpdate(key: Key, zone: string, sections: [WireRecord[], WireRecord[]], id = 1): Buffer {
  const message = encode(id, OPCODE.UPDATE, { name: zone, type: TYPE.SOA }, sections, { edns: true });
  return sign(message, secretOf(key), Math.floor(Date.now() / 1000)).signed;
}

/** One message by UDP. @returns the answer; null: silence */
export async function overUdp(port: number, raw: Buffer, waitMs = 5_000): Promise<Buffer | null> {
  const socket = createSocket('udp4');
  try {
    socket.send(raw, port, '127.0.0.1');
    const [answer] = (await once(socket, 'message', { signal: AbortSignal.timeout(waitMs) })) as [Buffer];
    return answer;
  } catch {
    return null;
  } finally {
    socket.close();
  }
}

/** A connection to a name server on loopback. */
export async function tcp(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** All messages of a transfer by TCP, of a signed one verified. @param serial of an IXFR */
export async function transferred(
  port: number,
  key: Key | null,
  zone: string,
  serial?: WireRecord,
): Promise<Message[]> {
  const type = serial ? TYPE.IXFR : TYPE.AXFR;
  const asked = encode(7, OPCODE.QUERY, { name: zone, type }, [[], serial ? [serial] : []]);
  const one = key && sign(asked, secretOf(key), Math.floor(Date.now() / 1000));
  const socket = await tcp(port);
  const verifier = key && one && new TsigVerifier(secretOf(key), one.mac);
  const messages: Message[] = [];
  let soas = 0;
  try {
    socket.write(frame(one?.signed ?? asked));
    for await (const raw of framed(socket, 30_000)) {
      const message = decode(raw, TRANSFER);
      verifier?.accept(raw, message);
      messages.push(message);
      soas += message.sections[0].filter((record) => record.type === TYPE.SOA).length;
      if (message.rcode !== 0 || soas > 1) break;
    }
    verifier?.complete();
    return messages;
  } finally {
    socket.destroy();
  }
}

/** The extended error of an answer (RFC 8914): its code and text; null: it has none. */
export function extendedError(raw: Buffer): { code: number; text: string } | null {
  const option = decode(raw).sections[2].find(({ type }) => type === TYPE.OPT);
  if (!option || option.rdataEnd - option.rdataStart < 6) return null;
  const rdata = raw.subarray(option.rdataStart, option.rdataEnd);
  return { code: rdata.readUInt16BE(4), text: rdata.subarray(6).toString() };
}
