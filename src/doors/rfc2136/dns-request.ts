import { Buffer } from 'node:buffer';
import { type Tsig, tsigOf } from '../../dns/tsig.js';
import {
  type Bounds,
  CLASS,
  decode,
  encodeRecord,
  type Message,
  RCODE,
  TYPE,
  type WireRecord,
} from '../../dns/wire.js';
import { nameToWire } from '../../dns/wire-rdata.js';

/** A message of 64 KiB has some 5 000 records; its names may not be many times its size. */
const BOUNDS: Bounds = { records: 8192, octets: 1_048_576 };
export const HEADER = 12;
/** Octets of an answer by UDP without EDNS (RFC 1035), and the most with it that is not fragmented. */
const PLAIN_UDP = 512;
const EDNS_UDP = 1232;
const MAX_TCP = 65_535;
/** Codes of extended errors (RFC 8914). */
export const EDE = {
  OTHER: 0,
  NOT_READY: 14,
  PROHIBITED: 18,
  NOT_AUTHORITATIVE: 20,
  NOT_SUPPORTED: 21,
  NO_REACHABLE_AUTHORITY: 22,
} as const;
/** Octets of a text of an extended error. */
const MAX_TEXT = 400;

/** A refusal in the words of DNS. */
export class DnsFault extends Error {
  /** @param text says what to do, to clients that take it */
  constructor(
    readonly rcode: number,
    text = '',
    readonly ede: number = EDE.OTHER,
  ) {
    super(text);
  }
}

/** A message that asks for something. */
export interface DnsRequest {
  raw: Buffer;
  message: Message;
  tsig: Tsig | null;
  /** the octets that an answer by UDP may have; null: the client has no EDNS */
  udpSize: number | null;
}

/** What is answered. */
export interface Said {
  rcode: number;
  isAuthoritative?: boolean;
  answer?: readonly WireRecord[];
  authority?: readonly WireRecord[];
  fault?: DnsFault;
}

/**
 * @throws RangeError when it is malformed; what is decoded later can throw it, too. DnsFault for a version of EDNS
 *   that is not known
 */
export function readRequest(raw: Buffer): DnsRequest {
  const message = decode(raw, BOUNDS);
  const [, , additional] = message.sections;
  const records = message.sections.flat();
  const isMisplaced = records.some((record) => record.type === TYPE.TSIG && record !== additional.at(-1));
  const options = records.filter(({ type }) => type === TYPE.OPT);
  const [option] = options;
  if (isMisplaced || options.length > 1 || (option && (!additional.includes(option) || option.name !== '.')))
    throw new RangeError('OPT or TSIG are not where they belong');
  const tsig = tsigOf(message);
  const last = additional.at(-1);
  if (tsig && last && (last.class !== CLASS.ANY || last.ttl !== 0))
    throw new RangeError('TSIG has another class or TTL than ANY and 0');
  return { raw, message, tsig, udpSize: option ? Math.min(Math.max(option.class, PLAIN_UDP), EDNS_UDP) : null };
}

/** The version of EDNS that a request speaks; only 0 is known. */
export const ednsVersion = ({ message }: DnsRequest): number =>
  ((message.sections[2].find(({ type }) => type === TYPE.OPT)?.ttl ?? 0) >>> 16) & 255;

/** The header alone, for what cannot be read: no longer than what came. */
export function headerOnly(raw: Buffer, rcode: number): Buffer {
  const header = Buffer.alloc(HEADER);
  raw.copy(header, 0, 0, 2);
  header.writeUInt8(0x80 | (raw.readUInt8(2) & 0x79), 2);
  header.writeUInt8(rcode, 3);
  return header;
}

function option({ fault }: Said, extended: number, withText: boolean): Buffer {
  const room = Buffer.alloc(MAX_TEXT);
  // no character is written in part
  const text = room.subarray(0, fault && withText ? room.write(fault.message) : 0);
  const rdata = fault ? Buffer.alloc(6 + text.length) : Buffer.alloc(0);
  if (fault) {
    rdata.writeUInt16BE(15, 0);
    rdata.writeUInt16BE(2 + text.length, 2);
    rdata.writeUInt16BE(fault.ede, 4);
    text.copy(rdata, 6);
  }
  return encodeRecord({ name: '.', type: TYPE.OPT, class: EDNS_UDP, ttl: extended << 24, rdata });
}

/**
 * The answer to a request, before it is signed.
 * @param room octets that may be added to it, for a signature
 */
export function encodeAnswer(request: DnsRequest, said: Said, isTcp: boolean, room: number): Buffer {
  const whole = encoded(request, said, isTcp || request.tsig !== null);
  const size = isTcp ? MAX_TCP : (request.udpSize ?? PLAIN_UDP);
  if (whole.length + room <= size) return whole;
  const cut = encoded(request, { rcode: said.rcode, isAuthoritative: said.isAuthoritative ?? false }, false);
  cut.writeUInt8(cut.readUInt8(2) | 0x02, 2);
  return cut;
}

function encoded({ raw, message, udpSize }: DnsRequest, said: Said, withText: boolean): Buffer {
  const { rcode, isAuthoritative = false, answer = [], authority = [] } = said;
  const header = headerOnly(raw, rcode & 15);
  if (isAuthoritative) header.writeUInt8(header.readUInt8(2) | 0x04, 2);
  const additional = udpSize === null ? [] : [option(said, rcode >>> 4, withText)];
  const question = message.question.flatMap(({ name, type, class: of }) => {
    const fixed = Buffer.alloc(4);
    fixed.writeUInt16BE(type, 0);
    fixed.writeUInt16BE(of, 2);
    return [nameToWire(name), fixed];
  });
  [message.question.length, answer.length, authority.length, additional.length].forEach((count, i) => {
    header.writeUInt16BE(count, 4 + 2 * i);
  });
  return Buffer.concat([header, ...question, ...[...answer, ...authority].map(encodeRecord), ...additional]);
}

/** What is said of a refusal; a fault without words says nothing but its code. */
export const saidOf = (fault: DnsFault): Said =>
  fault.message ? { rcode: fault.rcode, fault } : { rcode: fault.rcode };

export const refused = (text: string, ede: number = EDE.PROHIBITED): DnsFault => new DnsFault(RCODE.REFUSED, text, ede);
