import { Buffer } from 'node:buffer';
import { isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { locationFromWire, locationText, locationToWire, readLocation } from './location.js';
import { paramsToText, paramsToWire } from './service-params.js';
import { quoteBytes } from './text.js';
import { type Token, tokenOf, unescaped, wordsOf } from './tokens.js';
import { type Field, fieldsOf, typeName, typeNumber } from './types.js';

export { typeName, typeNumber } from './types.js';

/**
 * Names and rdata between presentation form (RFC 1035 section 5.1) and wire form (section 3). dns-packet is not used:
 * it decodes labels and strings as UTF-8 and does not escape dots inside labels, so that its output cannot be converted
 * back without loss.
 */

type WireField = Exclude<Field, 'word' | 'words'>;
/** Fields of one word. */
type WordField = Exclude<WireField, 'strings' | 'hex' | 'base64' | 'types' | 'params' | 'location'>;

/** The fields of a type with known rdata; null: it is kept in the form of RFC 3597. */
function wireFields(type: string): WireField[] | null {
  const fields = fieldsOf(type).filter((field) => field !== 'word' && field !== 'words');
  return fields.length > 0 && fields.length === fieldsOf(type).length ? fields : null;
}

/** Whether the rdata of a type can be parsed into fields. */
export const isUnderstood = (type: string): boolean => wireFields(type) !== null;

/**
 * Wire form of a name in presentation form, uncompressed; the final dot is optional.
 * @throws RangeError on an invalid name
 */
export function nameToWire(name: string): Buffer {
  const out: number[] = [];
  let label: number[] = [];
  const bytes = Buffer.from(name === '.' ? '' : name, 'utf8');
  const close = () => {
    if (label.length === 0 || label.length > 63) throw new RangeError(`"${name}" is not a domain name`);
    out.push(label.length, ...label);
    label = [];
  };
  for (let i = 0; i < bytes.length; i++) {
    const c = bytes[i] as number;
    if (c === 0x2e) {
      close();
    } else if (c === 0x5c) {
      const { octet, length } = unescaped(bytes, i);
      label.push(octet);
      i += length - 1;
    } else {
      label.push(c);
    }
  }
  if (label.length) close();
  if (out.length > 254) throw new RangeError(`"${name}" is longer than a domain name can be`);
  return Buffer.from([...out, 0]);
}

const SPECIAL = new Set(Buffer.from('."\\;()@$'));

/** Presentation form of each octet in a label. */
const IN_LABEL = Array.from({ length: 256 }, (_, octet) => {
  if (octet <= 0x20 || octet >= 0x7f) return `\\${String(octet).padStart(3, '0')}`;
  return (SPECIAL.has(octet) ? '\\' : '') + String.fromCharCode(octet);
});

/** Called with a number of octets before they are written out, to enforce a limit. @throws RangeError */
export type Spend = (octets: number) => void;

/** Octets of `message` from `start` to `end`. @throws RangeError when the message is shorter */
export function slice(message: Buffer, start: number, end: number): Buffer {
  if (end > message.length || start > end) throw new RangeError('the message ends too early');
  return message.subarray(start, end);
}

/** Maximum labels of a name, and so of compression pointers: a valid one leads to another label. */
const MOST_POINTERS = 127;

/**
 * The name at `offset` in presentation form, absolute with final dot, decompressed (RFC 1035 section 4.1.4), and the
 * offset of the next field. Pointers must lead backwards, which rules out loops, and their number is limited, which
 * bounds the work for thousands of records. @throws RangeError
 */
export function readName(message: Buffer, offset: number, spend?: Spend): { name: string; end: number } {
  let name = '';
  let end: number | undefined;
  let at = offset;
  let before = offset;
  for (let length = 0, pointers = 0; ; ) {
    const size = message.readUInt8(at);
    if (size === 0) return { name: name || '.', end: end ?? at + 1 };
    if (size < 64) {
      length += size + 1;
      if (length > 254) throw new RangeError('a name is too long');
      name += labelAt(message, at, size, spend);
      at += size + 1;
    } else {
      before = pointerAt(message, at, before);
      if (++pointers > MOST_POINTERS) throw new RangeError('a name has too many pointers');
      spend?.(2);
      end ??= at + 2;
      at = before;
    }
  }
}

/** Presentation form of a label with its dot. @throws RangeError */
function labelAt(message: Buffer, at: number, size: number, spend?: Spend): string {
  const next = at + 1 + size;
  if (next > message.length) throw new RangeError('the message ends too early');
  spend?.(size + 1);
  let label = '';
  for (let i = at + 1; i < next; i++) label += IN_LABEL[message[i] as number];
  return `${label}.`;
}

/** Where a compression pointer leads: to an offset before `before`. @throws RangeError */
function pointerAt(message: Buffer, at: number, before: number): number {
  const target = message.readUInt16BE(at) - 0xc000;
  if (target < 0 || target >= before) throw new RangeError('a name points nowhere');
  return target;
}

/** Offset after the name at `offset`. @throws RangeError */
export function skipName(message: Buffer, offset: number): number {
  for (let at = offset; ; ) {
    const size = message.readUInt8(at);
    if (size === 0) return at + 1;
    if (size >= 0xc0) return at + 2;
    if (size >= 64) throw new RangeError('a name points nowhere');
    at += size + 1;
    if (at - offset > 254) throw new RangeError('a name is too long');
  }
}

function malformed(type: string): never {
  throw new RangeError(`rdata is not valid for ${type}`);
}

/** Octets counted for each type of a bitmap. */
const TYPE_OCTETS = 8;

/**
 * Rdata of a message in presentation form with absolute names; `\# length hex` (RFC 3597) for unknown types.
 * @throws RangeError
 */
export function rdataToText(type: string, message: Buffer, start: number, end: number, spend?: Spend): string {
  const rdata = slice(message, start, end);
  const fields = wireFields(type);
  if (!fields) return `\\# ${rdata.length} ${rdata.toString('hex')}`.trimEnd();
  const out: string[] = [];
  let at = start;
  const take = (size: number): Buffer => {
    // a name may have led behind the end
    if (size < 0 || at + size > end) throw new RangeError('rdata is too short');
    at += size;
    return message.subarray(at - size, at);
  };
  const string = () => take(take(1).readUInt8());
  for (const field of fields) {
    switch (field) {
      case 'u8':
      case 'u16':
      case 'u32': {
        const size = Number(field.slice(1)) / 8;
        out.push(String(take(size).readUIntBE(0, size)));
        break;
      }
      case 'ipv4':
      case 'ipv6':
        out.push(ipaddr.fromByteArray([...take(field === 'ipv4' ? 4 : 16)]).toString());
        break;
      case 'name': {
        const read = readName(message, at, spend);
        at = read.end;
        out.push(read.name);
        break;
      }
      case 'tag':
        out.push(string().toString('latin1'));
        break;
      case 'string':
        out.push(quoteBytes(string()));
        break;
      case 'strings':
        do out.push(quoteBytes(string()));
        while (at < end);
        break;
      case 'text':
        out.push(quoteBytes(take(end - at)));
        break;
      case 'types':
        out.push(...typesIn(take(end - at), spend));
        break;
      case 'params':
        out.push(...(paramsToText(take(end - at)) ?? malformed(type)));
        break;
      case 'location':
        out.push(locationText(locationFromWire(take(end - at)) ?? malformed(type)));
        break;
      default:
        out.push(take(end - at).toString(field));
    }
  }
  if (at !== end) throw new RangeError('rdata has another length than it says');
  return out.join(' ');
}

/**
 * Rdata as `\# length hex` (RFC 3597) in the form of its type; of a type with rdata that is not known, as it is.
 * @returns null when it is malformed, or not valid for the type
 */
export function fromGeneric(type: string, rdata: string): string | null {
  const [, length, ...hex] = rdata.split(' ');
  const digits = hex.join('');
  const wire = Buffer.from(digits, 'hex');
  if (!/^\d{1,5}$/.test(length ?? '') || wire.length !== Number(length) || digits.length !== 2 * wire.length)
    return null;
  if (!isUnderstood(type)) return rdata;
  try {
    return rdataToText(type, wire, 0, wire.length);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** The types of a bitmap (RFC 4034 section 4.1.2). @throws RangeError */
function typesIn(bitmap: Buffer, spend?: Spend): string[] {
  const out: string[] = [];
  for (let at = 0; at < bitmap.length; ) {
    const [window, end] = [bitmap.readUInt8(at), at + 2 + bitmap.readUInt8(at + 1)];
    const types = [...slice(bitmap, at + 2, end)].flatMap((octet, i) =>
      [0, 1, 2, 3, 4, 5, 6, 7]
        .filter((bit) => octet & (0x80 >> bit))
        .map((bit) => typeName(window * 256 + i * 8 + bit)),
    );
    spend?.(TYPE_OCTETS * types.length);
    out.push(...types);
    at = end;
  }
  return out;
}

/**
 * Uncompressed wire form of rdata in presentation form (names absolute).
 * @throws RangeError when it is not valid for the type
 */
export function rdataToWire(type: string, rdata: string): Buffer {
  const fail = (): never => {
    throw new RangeError(`"${rdata.slice(0, 80)}" is not valid for ${type}`);
  };
  const words = wordsOf(rdata) ?? fail();
  const rest = () => words.splice(0).map((word) => word.raw);
  if (words[0]?.raw === '\\#') return Buffer.from(rest().slice(2).join(''), 'hex');
  const fields = wireFields(type) ?? fail();
  // only a parameter has quotes inside
  if (!fields.includes('params') && words.some(({ pair }) => pair)) fail();
  const next = () => tokenOf(words.shift() ?? fail());
  const out = fields.map((field) => {
    switch (field) {
      case 'strings':
        return Buffer.concat(
          words.length ? words.splice(0).map((word) => lengthAndText(tokenOf(word)) ?? fail()) : fail(),
        );
      case 'hex':
      case 'base64':
        return Buffer.from(rest().join(''), field);
      case 'types':
        return bitmapOf(rest());
      case 'params':
        return paramsToWire(words.splice(0)) ?? fail();
      case 'location': {
        const location = readLocation(rest().join(' ')) ?? fail();
        return locationToWire(location) ?? fail();
      }
      default:
        return wordToWire(field, next()) ?? fail();
    }
  });
  return words.length ? fail() : Buffer.concat(out);
}

/** A bitmap of types (RFC 4034 section 4.1.2). @throws RangeError on an unknown one */
function bitmapOf(names: readonly string[]): Buffer {
  const windows = new Map<number, Buffer>();
  for (const number of names.map(typeNumber).toSorted((a, b) => a - b)) {
    const window = windows.get(number >> 8) ?? Buffer.alloc(32);
    window.writeUInt8(window.readUInt8((number & 255) >> 3) | (0x80 >> (number & 7)), (number & 255) >> 3);
    windows.set(number >> 8, window);
  }
  return Buffer.concat(
    [...windows].flatMap(([window, bits]) => {
      const length = bits.findLastIndex((octet) => octet !== 0) + 1;
      return [Buffer.from([window, length]), bits.subarray(0, length)];
    }),
  );
}

/** Wire form of a field of one word; null when it is not valid. @throws RangeError */
function wordToWire(field: WordField, word: Token): Buffer | null {
  const { raw, bytes } = word;
  if (field === 'name') return nameToWire(raw);
  if (field === 'tag' || field === 'string') return lengthAndText(word);
  if (field === 'text') return bytes;
  if (field === 'ipv4') return isIPv4(raw) ? Buffer.from(ipaddr.parse(raw).toByteArray()) : null;
  if (field === 'ipv6') return isIPv6(raw) ? Buffer.from(ipaddr.parse(raw).toByteArray()) : null;
  if (!/^\d+$/.test(raw)) return null;
  const number = Buffer.alloc(Number(field.slice(1)) / 8);
  number.writeUIntBE(Number(raw), 0, number.length);
  return number;
}

/** A character string (RFC 1035 section 3.3); null when it is too long. */
const lengthAndText = ({ bytes }: Token): Buffer | null =>
  bytes.length > 255 ? null : Buffer.from([bytes.length, ...bytes]);
