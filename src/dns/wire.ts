import { Buffer } from 'node:buffer';
import { nameToWire, rdataToText, readName, slice, typeName } from './wire-rdata.js';

/**
 * DNS messages (RFC 1035 section 4.1) with what UPDATE (RFC 2136) and TSIG (RFC 8945) need besides: any class, any
 * type, raw rdata.
 */

export const CLASS = { IN: 1, NONE: 254, ANY: 255 } as const;
export const TYPE = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  AAAA: 28,
  OPT: 41,
  DS: 43,
  DNSKEY: 48,
  TSIG: 250,
  AXFR: 252,
  ANY: 255,
} as const;
export const OPCODE = { QUERY: 0, UPDATE: 5 } as const;
export const RCODE = {
  NOERROR: 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
  YXDOMAIN: 6,
  YXRRSET: 7,
  NXRRSET: 8,
  BADVERS: 16,
} as const;

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
  /** with the upper bits of an OPT record */
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

/** OPT (RFC 6891) of a request: as much as fits into one packet everywhere (DNS flag day 2020), DO clear. */
const EDNS: WireRecord = { name: '.', type: TYPE.OPT, class: 1232, ttl: 0, rdata: Buffer.alloc(0) };

/**
 * Wire form of a request: one question (in an UPDATE the zone), all flags clear but what `more` asks for.
 * @param sections answer and authority; in an UPDATE the prerequisites and the updates
 * @param more `recurse`: RD, for resolvers; servers are asked for authoritative data only. `edns`: with an OPT record
 * @throws RangeError when a name, a number or a count does not fit
 */
export function encode(
  id: number,
  opcode: number,
  question: { name: string; type: number },
  sections: [WireRecord[], WireRecord[]] = [[], []],
  more: { recurse?: boolean; edns?: boolean } = {},
): Buffer {
  const additional = more.edns ? [EDNS] : [];
  const header = Buffer.alloc(12);
  header.writeUInt16BE(id, 0);
  header.writeUInt16BE((opcode << 11) | (more.recurse ? 0x0100 : 0), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(sections[0].length, 6);
  header.writeUInt16BE(sections[1].length, 8);
  header.writeUInt16BE(additional.length, 10);
  const asked = Buffer.alloc(4);
  asked.writeUInt16BE(question.type, 0);
  asked.writeUInt16BE(CLASS.IN, 2);
  return Buffer.concat([
    header,
    nameToWire(question.name),
    asked,
    ...[...sections.flat(), ...additional].map(encodeRecord),
  ]);
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
  const extended = (sections[2].find(({ type }) => type === TYPE.OPT)?.ttl ?? 0) >>> 24;
  return {
    id: message.readUInt16BE(0),
    response: (flags & 0x8000) !== 0,
    opcode: (flags >> 11) & 15,
    authoritative: (flags & 0x0400) !== 0,
    truncated: (flags & 0x0200) !== 0,
    rcode: (extended << 4) | (flags & 15),
    question,
    sections,
  };
}

/** Rdata of a record that was read, in presentation form. @throws RangeError */
export const textOf = (record: ReadRecord): string =>
  rdataToText(typeName(record.type), record.message, record.rdataStart, record.rdataEnd);

/** The same of each that can be read: whoever answers may send anything. */
export const readableTexts = (records: readonly ReadRecord[]): string[] =>
  records.flatMap((record) => {
    try {
      return [textOf(record)];
    } catch {
      return [];
    }
  });
