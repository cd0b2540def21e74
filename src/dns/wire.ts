import { Buffer } from 'node:buffer';
import { nameToWire, rdataToText, readName, type Spend, skipName, slice, typeName } from './wire-rdata.js';

/**
 * DNS messages (RFC 1035 section 4.1) including what UPDATE (RFC 2136) and TSIG (RFC 8945) need: any class, any type,
 * raw rdata.
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
  IXFR: 251,
  AXFR: 252,
  ANY: 255,
} as const;
export const OPCODE = { QUERY: 0, NOTIFY: 4, UPDATE: 5 } as const;
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
  NOTAUTH: 9,
  NOTZONE: 10,
  BADVERS: 16,
} as const;

/** A record to send; rdata in wire form. */
export interface WireRecord {
  /** Absolute, final dot optional. */
  name: string;
  type: number;
  class: number;
  /** seconds */
  ttl: number;
  rdata: Buffer;
}

/** A foreign message, or all messages of one zone check, exceed a limit; the message is shown to users. */
export class TooMuch extends RangeError {}

/** Limits for parsing a message. */
export interface Bounds {
  /** Records of all its sections. */
  records: number;
  /** Octets of decompressed names and of type bitmaps: with pointers they can be many times the size of the message. */
  octets: number;
}

/** For an answer: as many addresses as fit in 64 KiB, and twice that size of names. */
export const ANSWER: Bounds = { records: 4096, octets: 131_072 };
/** For a message of a transfer: everything that fits in it. */
export const TRANSFER: Bounds = { records: 65_535, octets: Number.POSITIVE_INFINITY };

/** Parses parts of a message on demand, within the limits. */
class Reader {
  /** Decoded names by offset, and by the target of a pointer. */
  private readonly names = new Map<number, string>();
  /** Octets decoded so far. */
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
 * A record of a message, parsed by `decode`. Rdata stays in the message, since its names may contain pointers; names
 * and rdata are decoded on access.
 */
export class ReadRecord {
  private rdata: string | undefined;

  constructor(
    private readonly reader: Reader,
    /** Offset of the record in the message. */
    readonly at: number,
    /** Offset of its type field. */
    private readonly fixed: number,
    readonly rdataEnd: number,
  ) {}

  get message(): Buffer {
    return this.reader.message;
  }
  /** Absolute with final dot, in the server's spelling. @throws RangeError */
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
  /** Rdata in presentation form. @throws RangeError */
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
  /** Including the upper bits of an OPT record. */
  rcode: number;
  question: { name: string; type: number; class: number }[];
  sections: [ReadRecord[], ReadRecord[], ReadRecord[]];
  /** Octets of names decoded so far. */
  spent(): number;
}

/** Uncompressed wire form of a record. @throws RangeError when a name or number does not fit */
export function encodeRecord(record: WireRecord): Buffer {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(record.type, 0);
  fixed.writeUInt16BE(record.class, 2);
  fixed.writeUInt32BE(record.ttl, 4);
  fixed.writeUInt16BE(record.rdata.length, 8);
  return Buffer.concat([nameToWire(record.name), fixed, record.rdata]);
}

/** OPT record (RFC 6891) of a request: a size that is not fragmented (DNS flag day 2020), DO clear. */
const EDNS: WireRecord = { name: '.', type: TYPE.OPT, class: 1232, ttl: 0, rdata: Buffer.alloc(0) };

/**
 * Wire form of a request: one question (the zone in an UPDATE), all flags clear except those of `more`.
 * @param sections answer and authority; in an UPDATE the prerequisites and the updates
 * @param more `recurse`: RD, for resolvers; authoritative servers are asked without it. `edns`: with an OPT record
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

/** The question of a message, at most one (RFC 9619), and the offset of its records. @throws RangeError */
export function questionOf(message: Buffer): { question: Message['question']; end: number } {
  const count = message.readUInt16BE(4);
  if (count > 1) throw new RangeError('it has more than one question');
  if (!count) return { question: [], end: 12 };
  const { name, end } = readName(message, 12);
  const asked = { name, type: message.readUInt16BE(end), class: message.readUInt16BE(end + 2) };
  return { question: [asked], end: end + 4 };
}

/**
 * Parses the structure of a message; names and rdata are decoded on access.
 * @throws TooMuch when it exceeds the limits. @throws RangeError when it is malformed or has trailing data
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

/** Rdata of a parsed record in presentation form. @throws RangeError */
export const textOf = (record: ReadRecord): string => record.text;

/** Rdata of all records that can be decoded; others are skipped, since answers are untrusted. */
export const readableTexts = (records: readonly ReadRecord[]): string[] =>
  records.flatMap((record) => {
    try {
      return [textOf(record)];
    } catch {
      return [];
    }
  });
