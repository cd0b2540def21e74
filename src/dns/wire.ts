import { Buffer } from 'node:buffer';
import { nameToWire, rdataToText, readName, type Spend, skipName, slice, typeName } from './wire-rdata.js';

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

/** More than is read of a foreign message, or of all messages of one look. Words for people. */
export class TooMuch extends RangeError {}

/** How much of a message is read. */
export interface Bounds {
  /** of all its sections */
  records: number;
  /** octets of names and of bitmaps of types, written out: by pointers a message holds many times its size of them */
  octets: number;
}

/** Of an answer to a question: as many addresses as 64 KiB hold, and names of twice that size. */
export const ANSWER: Bounds = { records: 4096, octets: 131_072 };
/** Of a message of a transfer: all that it can hold. */
export const TRANSFER: Bounds = { records: 65_535, octets: Number.POSITIVE_INFINITY };

/** What of a message is read only when it is asked for, as far as the bounds let it. */
class Reader {
  /** names by where they begin, or by where the pointer leads that they are */
  private readonly names = new Map<number, string>();
  /** octets that were written out so far */
  spent = 0;
  readonly spend: Spend = (octets) => {
    this.spent += octets;
    if (this.spent > this.bounds.octets)
      throw new TooMuch(`the answer is too large: its names take more than ${this.bounds.octets} octets`);
  };

  constructor(
    readonly message: Buffer,
    private readonly bounds: Bounds,
  ) {}

  name(at: number): string {
    const first = this.message.readUInt16BE(at);
    const key = first >= 0xc000 ? first - 0xc000 : at;
    const name = this.names.get(key) ?? readName(this.message, at, this.spend).name;
    this.names.set(key, name);
    return name;
  }
}

/**
 * A record of a message, read by `decode`. Rdata stays in the message, since names in it may point elsewhere in it;
 * names and texts are read when they are asked for.
 */
export class ReadRecord {
  private rdata: string | undefined;

  constructor(
    private readonly reader: Reader,
    /** the record's first octet in the message */
    readonly at: number,
    /** where its type begins */
    private readonly fixed: number,
    readonly rdataEnd: number,
  ) {}

  get message(): Buffer {
    return this.reader.message;
  }
  /** absolute with final dot, as the server spells it. @throws RangeError */
  get name(): string {
    return this.reader.name(this.at);
  }
  get type(): number {
    return this.message.readUInt16BE(this.fixed);
  }
  get class(): number {
    return this.message.readUInt16BE(this.fixed + 2);
  }
  /** seconds */
  get ttl(): number {
    return this.message.readUInt32BE(this.fixed + 4);
  }
  get rdataStart(): number {
    return this.fixed + 10;
  }
  /** rdata in presentation form. @throws RangeError */
  get text(): string {
    const { message, rdataStart, rdataEnd, reader } = this;
    this.rdata ??= rdataToText(typeName(this.type), message, rdataStart, rdataEnd, reader.spend);
    return this.rdata;
  }
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
  /** octets of names that were written out so far */
  spent(): number;
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

/**
 * The question of a message, which has one at most (RFC 9619), and where its records begin. @throws RangeError
 */
export function questionOf(message: Buffer): { question: Message['question']; end: number } {
  const count = message.readUInt16BE(4);
  if (count > 1) throw new RangeError('it has more than one question');
  if (!count) return { question: [], end: 12 };
  const { name, end } = readName(message, 12);
  return { question: [{ name, type: message.readUInt16BE(end) }], end: end + 4 };
}

/**
 * Reads a message: where its records are. What they hold is read when it is asked for.
 * @throws TooMuch when it is beyond the bounds. @throws RangeError when it is broken or has something after its end
 */
export function decode(message: Buffer, bounds: Bounds = ANSWER): Message {
  const { question, end } = questionOf(message);
  const flags = message.readUInt16BE(2);
  const counts = [6, 8, 10].map((at) => message.readUInt16BE(at)) as [number, number, number];
  if (counts[0] + counts[1] + counts[2] > bounds.records)
    throw new TooMuch(`the answer is too large: it has more than ${bounds.records} records`);
  const reader = new Reader(message, bounds);
  let at = end;
  const sections = counts.map((count) =>
    Array.from({ length: count }, () => {
      const fixed = skipName(message, at);
      const rdataEnd = fixed + 10 + message.readUInt16BE(fixed + 8);
      slice(message, fixed + 10, rdataEnd);
      const record = new ReadRecord(reader, at, fixed, rdataEnd);
      at = rdataEnd;
      return record;
    }),
  ) as Message['sections'];
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
    spent: () => reader.spent,
  };
}

/** Rdata of a record that was read, in presentation form. @throws RangeError */
export const textOf = (record: ReadRecord): string => record.text;

/** The same of each that can be read: whoever answers may send anything. */
export const readableTexts = (records: readonly ReadRecord[]): string[] =>
  records.flatMap((record) => {
    try {
      return [textOf(record)];
    } catch {
      return [];
    }
  });
