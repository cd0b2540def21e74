import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { createServer, type Server, type Socket } from 'node:net';
import { nameToWire, readName } from '../../src/dns/wire-rdata.js';

/** A question received by a test name server. */
export interface Asked {
  /** Absolute, lower case, with final dot. */
  name: string;
  type: number;
  tcp: boolean;
  /** The address that it was sent to. */
  to: string;
  raw: Buffer;
}

/** A raw record of an answer. */
export interface RawRecord {
  /** In wire form, possibly a pointer; omitted: the queried name. */
  owner?: Buffer | undefined;
  type: number;
  rdata: Buffer;
}

/** The answer: messages in order, a handler of the connection, or null for no answer. */
export type Answering = (asked: Asked) => Buffer[] | ((socket: Socket) => void) | null;

export interface Hostile {
  asked: Asked[];
  /** Number of questions to one address, or to all. */
  count(to?: string): number;
  stop(): Promise<void>;
}

export const RRTYPE = { A: 1, NS: 2, SOA: 6, DS: 43, DNSKEY: 48 } as const;
export const AA = 0x0400;
export const TC = 0x0200;

/** A compression pointer to an offset of the message (RFC 1035 section 4.1.4). */
export const pointer = (to: number): Buffer => Buffer.from([0xc0 | (to >> 8), to & 255]);
/** Offset of the first record of an answer. */
export const firstRecord = ({ name }: Asked): number => 12 + nameToWire(name).length + 4;
/** A name of 254 octets in labels of one. */
export const LONG = Buffer.concat([...Array(126).fill(Buffer.from([1, 0x78])), Buffer.from([0])]);
export const address = (text: string): Buffer => Buffer.from(text.split('.').map(Number));
export const soa = (): Buffer => Buffer.concat([nameToWire('a.'), nameToWire('b.'), Buffer.alloc(20, 1)]);

/** An answer to a question. @param sections answer, authority, additional */
export function answerTo(asked: Asked, sections: RawRecord[][], flags = AA): Buffer {
  const head = Buffer.from(asked.raw.subarray(0, 12));
  head.writeUInt16BE(0x8000 | flags, 2);
  head.writeUInt16BE(1, 4);
  for (const i of [0, 1, 2]) head.writeUInt16BE(sections[i]?.length ?? 0, 6 + 2 * i);
  const question = asked.raw.subarray(12, readName(asked.raw, 12).end + 4);
  const records = sections.flat().map(({ owner = pointer(12), type, rdata }) => {
    const fixed = Buffer.from([type >> 8, type & 255, 0, 1, 0, 0, 1, 0, rdata.length >> 8, rdata.length & 255]);
    return Buffer.concat([owner, fixed, rdata]);
  });
  return Buffer.concat([head, question, ...records]);
}

export const framed = (message: Buffer): Buffer =>
  Buffer.concat([Buffer.from([message.length >> 8, message.length & 255]), message]);

/** A name server on several loopback addresses that answers over UDP and TCP as the test defines. */
export async function startHostile(addresses: string[], port: number, answering: Answering): Promise<Hostile> {
  const asked: Asked[] = [];
  const servers: { udp: UdpSocket; tcp: Server }[] = [];
  const sockets = new Set<Socket>();
  const read = (raw: Buffer, to: string, tcp: boolean) => {
    const { name, end } = readName(raw, 12);
    const one = { name: name.toLowerCase(), type: raw.readUInt16BE(end), tcp, to, raw: Buffer.from(raw) };
    asked.push(one);
    return answering(one);
  };
  for (const to of addresses) {
    const udp = createSocket('udp4').on('message', (raw, from) => {
      const answer = read(raw, to, false);
      if (Array.isArray(answer)) for (const message of answer) udp.send(message, from.port, from.address);
    });
    const tcp = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
      socket.once('data', (chunk) => {
        const answer = read(chunk.subarray(2), to, true);
        if (typeof answer === 'function') answer(socket);
        else for (const message of answer ?? []) socket.write(framed(message));
      });
    });
    await new Promise<void>((bound) => tcp.listen(port, to, bound));
    await new Promise<void>((bound) => udp.bind(port, to, bound));
    servers.push({ udp, tcp });
  }
  return {
    asked,
    count: (to) => asked.filter((one) => to === undefined || one.to === to).length,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      for (const { udp, tcp } of servers) {
        udp.close();
        await new Promise((closed) => tcp.close(closed));
      }
    },
  };
}
