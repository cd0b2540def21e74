import { Buffer } from 'node:buffer';
import { nameToWire, rdataToText, readName, slice, typeName } from './rdata.js';

/**
 * DNS messages (RFC 1035 section 4.1) with what UPDATE (RFC 2136) and TSIG (RFC 8945) need besides: any class, any
 * type, raw rdata.
 */

export const CLASS = { IN: 1, NONE: 254, ANY: 255 } as const;
export const TYPE = { SOA: 6, TSIG: 250, AXFR: 252, ANY: 255 } as const;
export const OPCODE = { QUERY: 0, UPDATE: 5 } as const;
export const RCODE = { NOERROR: 0, NXDOMAIN: 3, REFUSED: 5, YXDOMAIN: 6, YXRRSET: 7, NXRRSET: 8 } as const;

/** A record to be sent; rdata in wire form. */
export interface WireRecord {
  /** absolute, final dot optional */
  name: string;
  type: number;
  class: number;
  /** seconds */
  ttl: number;
  rdata: Buffer;
}

/** A record of a message, read by `decode`. Rdata stays in the message, since names in it may point elsewhere in it. */
export interface ReadRecord {
  /** absolute with final dot, as the server spells it */
  name: string;
  type: number;
  class: number;
  /** seconds */
  ttl: number;
  /** the record's first octet in the message, and its rdata */
  at: number;
  rdataStart: number;
  rdataEnd: number;
  message: Buffer;
}

/** A message; `sections` are answer, authority and additional, or prerequisite, update and additional. */
export interface Message {
  id: number;
  response: boolean;
  opcode: number;
  authoritative: boolean;
  truncated: boolean;
  rcode: number;
  question: { name: string; type: number }[];
  sections: [ReadRecord[], ReadRecord[], ReadRecord[]];
}

/** Wire form of a record, nothing compressed. @throws RangeError when a name or number does not fit */
export function encodeRecord(record: WireRecord): Buffer {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(record.type, 0);
  fixed.writeUInt16BE(record.class, 2);
  fixed.writeUInt32BE(record.ttl, 4);
  fixed.writeUInt16BE(record.rdata.length, 8);
  return Buffer.concat([nameToWire(record.name), fixed, record.rdata]);
}

/**
 * Wire form of a request: one question (in an UPDATE the zone), all flags clear, RD too, since only authoritative data
 * is asked for.
 * @param sections answer and authority; in an UPDATE the prerequisites and the updates
 * @throws RangeError when a name, a number or a count does not fit
 */
export function encode(
  id: number,
  opcode: number,
  question: { name: string; type: number },
  sections: [WireRecord[], WireRecord[]] = [[], []],
): Buffer {
  const header = Buffer.alloc(12);
  header.writeUInt16BE(id, 0);
  header.writeUInt16BE(opcode << 11, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(sections[0].length, 6);
  header.writeUInt16BE(sections[1].length, 8);
  const asked = Buffer.alloc(4);
  asked.writeUInt16BE(question.type, 0);
  asked.writeUInt16BE(CLASS.IN, 2);
  return Buffer.concat([header, nameToWire(question.name), asked, ...sections.flat().map(encodeRecord)]);
}

/** Reads a message. @throws RangeError when it is broken or has something after its end */
export function decode(message: Buffer): Message {
  const flags = message.readUInt16BE(2);
  let at = 12;
  const question = Array.from({ length: message.readUInt16BE(4) }, () => {
    const { name, end } = readName(message, at);
    at = end + 4;
    return { name, type: message.readUInt16BE(end) };
  });
  const section = (count: number): ReadRecord[] => {
    const records: ReadRecord[] = [];
    for (let i = 0; i < count; i++) {
      const { name, end } = readName(message, at);
      const rdataStart = end + 10;
      const rdataEnd = rdataStart + message.readUInt16BE(end + 8);
      slice(message, rdataStart, rdataEnd);
      records.push({
        name,
        type: message.readUInt16BE(end),
        class: message.readUInt16BE(end + 2),
        ttl: message.readUInt32BE(end + 4),
        at,
        rdataStart,
        rdataEnd,
        message,
      });
      at = rdataEnd;
    }
    return records;
  };
  const sections: Message['sections'] = [
    section(message.readUInt16BE(6)),
    section(message.readUInt16BE(8)),
    section(message.readUInt16BE(10)),
  ];
  if (at !== message.length) throw new RangeError('the message is longer than it says');
  return {
    id: message.readUInt16BE(0),
    response: (flags & 0x8000) !== 0,
    opcode: (flags >> 11) & 15,
    authoritative: (flags & 0x0400) !== 0,
    truncated: (flags & 0x0200) !== 0,
    rcode: flags & 15,
    question,
    sections,
  };
}

/** Rdata of a record that was read, in presentation form. @throws RangeError */
export const textOf = (record: ReadRecord): string =>
  rdataToText(typeName(record.type), record.message, record.rdataStart, record.rdataEnd);
