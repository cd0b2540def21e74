import { isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { InvalidRecord } from '../platform/common/errors.js';
import { type FieldText, say } from '../platform/common/words/field-text.js';
import { hexadecimal } from './addresses.js';
import { quoteBytes } from './text.js';
import { octets, type Word } from './tokens.js';

/** Parameters of SVCB and HTTPS records (RFC 9460): presentation and wire form. */

/** Names by key (RFC 9460 section 14.3.2). */
const NAMES = ['mandatory', 'alpn', 'no-default-alpn', 'port', 'ipv4hint', 'ech', 'ipv6hint'];
/** Names of later keys (RFC 9461, 9540): they are read, and shown as `key7`, which is what every server takes. */
const LATER = new Map([
  ['dohpath', 7],
  ['ohttp', 8],
]);
const [MANDATORY, ALPN, NO_DEFAULT_ALPN] = [0, 1, 2];
/** stands for no key at all (RFC 9460 section 14.3.2) */
const INVALID_KEY = 65_535;

const COMMA = 0x2c;
const BACKSLASH = 0x5c;

const keyName = (key: number): string => NAMES[key] ?? `key${key}`;

/** The key of a name or of `key123`; null: there is none. */
function keyOf(name: string): number | null {
  const lower = name.toLowerCase();
  const known = NAMES.indexOf(lower);
  if (known >= 0) return known;
  const later = LATER.get(lower);
  if (later !== undefined) return later;
  const number = /^key(0|[1-9]\d{0,4})$/.exec(lower)?.[1];
  return number !== undefined && Number(number) < INVALID_KEY ? Number(number) : null;
}

const u16 = (value: number): Buffer => Buffer.from([value >> 8, value & 255]);
const numbers = (wire: Buffer): number[] => Array.from({ length: wire.length / 2 }, (_, i) => wire.readUInt16BE(2 * i));
const isRising = (list: readonly number[]): boolean => list.every((one, i) => !i || one > (list[i - 1] as number));

/** How a value is written; each function gives null for a value that the key cannot have. */
interface Form {
  /** @param text of the value, its escapes decoded */
  toWire(text: Buffer): Buffer | null;
  toText(wire: Buffer): Buffer | null;
}

const keys: Form = {
  toWire(text) {
    const all = text.toString('latin1').split(',').map(keyOf);
    if (all.some((key) => key === null)) return null;
    return Buffer.concat((all as number[]).toSorted((a, b) => a - b).map(u16));
  },
  toText(wire) {
    if (!wire.length || wire.length % 2) return null;
    const all = numbers(wire);
    // it names itself, or one of them twice
    if (all[0] === MANDATORY || all.at(-1) === INVALID_KEY || !isRising(all)) return null;
    return Buffer.from(all.map(keyName).join());
  },
};

/** Values with commas between them, escaped once more (RFC 9460 appendix A.1); each with its length in wire form. */
const strings: Form = {
  toWire(text) {
    const all: number[][] = [[]];
    for (let at = 0; at < text.length; at++) {
      if (text[at] === COMMA) {
        all.push([]);
        continue;
      }
      if (text[at] === BACKSLASH && ++at === text.length) return null;
      all.at(-1)?.push(text[at] as number);
    }
    if (all.some(({ length }) => !length || length > 255)) return null;
    return Buffer.concat(all.map((one) => Buffer.from([one.length, ...one])));
  },
  toText(wire) {
    const out: number[] = [];
    for (let at = 0; at < wire.length; ) {
      const end = at + 1 + (wire[at] as number);
      if (end > wire.length || end === at + 1) return null;
      if (out.length) out.push(COMMA);
      for (const octet of wire.subarray(at + 1, end))
        out.push(...(octet === COMMA || octet === BACKSLASH ? [BACKSLASH, octet] : [octet]));
      at = end;
    }
    return wire.length ? Buffer.from(out) : null;
  },
};

/** Octets of an address; ipaddr.js confuses `::1.2.3.4` with `::ffff:1.2.3.4`. */
const addressOctets = (address: string): number[] =>
  ipaddr.parse(isIPv6(address) ? hexadecimal(address) : address).toByteArray();

const addresses = (isOne: (text: string) => boolean, size: number): Form => ({
  toWire(text) {
    const all = text.toString('latin1').split(',');
    // a zone of an address is nothing that others know
    if (!all.every((one) => isOne(one) && !one.includes('%'))) return null;
    return Buffer.from(all.flatMap(addressOctets));
  },
  toText(wire) {
    if (!wire.length || wire.length % size) return null;
    const all = Array.from({ length: wire.length / size }, (_, i) => wire.subarray(size * i, size * (i + 1)));
    return Buffer.from(all.map((one) => ipaddr.fromByteArray([...one]).toString()).join());
  },
});

const nothing: Form = {
  toWire: (text) => (text.length ? null : text),
  toText: (wire) => (wire.length ? null : wire),
};
const port: Form = {
  toWire(text) {
    const digits = text.toString('latin1');
    return /^\d{1,5}$/.test(digits) && Number(digits) <= 65_535 ? u16(Number(digits)) : null;
  },
  toText: (wire) => (wire.length === 2 ? Buffer.from(String(wire.readUInt16BE(0))) : null),
};
const base64: Form = {
  toWire(text) {
    const wire = Buffer.from(text.toString('latin1'), 'base64');
    return wire.toString('base64') === text.toString('latin1') ? wire : null;
  },
  toText: (wire) => Buffer.from(wire.toString('base64')),
};
const plain: Form = { toWire: (text) => text, toText: (wire) => wire };

const FORMS: readonly Form[] = [keys, strings, nothing, port, addresses(isIPv4, 4), base64, addresses(isIPv6, 16)];
const formOf = (key: number): Form => FORMS[key] ?? plain;

/** Whether a list of parameters is one that a client uses (RFC 9460 sections 2.2, 7.1.1 and 8). */
function isWhole(params: ReadonlyMap<number, Buffer>): boolean {
  const needed = [...numbers(params.get(MANDATORY) ?? Buffer.alloc(0)), ...(params.has(NO_DEFAULT_ALPN) ? [ALPN] : [])];
  return isRising([...params.keys()]) && needed.every((key) => params.has(key));
}

/** Wire form of parameters in any order; null when one of them is not valid, or is there twice. */
export function paramsToWire(words: readonly Word[]): Buffer | null {
  const params: [number, Buffer][] = [];
  for (const { raw, quoted } of words) {
    const [, name = '', text = ''] = /^([^=]+)(?:=(.*))?$/s.exec(raw) ?? [];
    const key = quoted ? null : keyOf(name);
    const value = octets(text.replace(/^"(.*)"$/s, '$1'));
    // by its number a key has its value as octets
    const wire = key === null ? null : (/^key\d/i.test(name) ? plain : formOf(key)).toWire(value);
    if (key === null || !wire || wire.length > 65_535 || !formOf(key).toText(wire)) return null;
    params.push([key, wire]);
  }
  params.sort(([a], [b]) => a - b);
  if (params.some(([key], i) => key === params[i + 1]?.[0]) || !isWhole(new Map(params))) return null;
  return Buffer.concat(params.flatMap(([key, wire]) => [u16(key), u16(wire.length), wire]));
}

/** RFC 9461 section 5: a relative URI template with the variable `dns`. */
const DOHPATH = /^\/.*\{\?([\w.]+,)*dns(,[\w.]+)*\}/;

/** Says what a known key takes, where it was given something else. */
const WANTED: Record<string, FieldText> = {
  mandatory: 'must name other parameters of the record, each one once',
  alpn: 'must be protocol names of 2 to 255 characters, separated by commas',
  'no-default-alpn': 'must not have a value',
  port: say('must be a whole number from {min} to {max}', { min: 0, max: 65_535 }),
  ipv4hint: 'must be IPv4 addresses, separated by commas',
  ech: 'must be base64 text',
  ipv6hint: 'must be IPv6 addresses, separated by commas',
};

const reject = (parameter: string, rule: FieldText): never => {
  throw new InvalidRecord('value', say('parameter {parameter}: {rule}', { parameter, rule }));
};

/** The stored form of a key. @throws InvalidRecord */
function storedKey(name: string): string {
  if (!name) reject('mandatory', WANTED.mandatory as FieldText);
  if (name !== name.toLowerCase()) reject(name, 'must be in lower case');
  const key = keyOf(name);
  if (key === null) return reject(name, 'is not a known key: write an unknown key as its number, such as key667');
  if (NAMES[key] !== undefined && NAMES[key] !== name)
    reject(name, say('must be written by its name, "{name}"', { name: NAMES[key] }));
  return keyName(key);
}

/** The stored form of one value; undefined: the key has none. @throws InvalidRecord */
function storedValue(name: string, key: string, value: string): string | undefined {
  if (key === 'key7' && !DOHPATH.test(value))
    reject(name, say('must be a path such as {example}', { example: '/dns-query{?dns}' }));
  if (key === 'key8' && value) reject(name, WANTED['no-default-alpn'] as FieldText);
  if (!Object.hasOwn(WANTED, key)) return value || undefined;
  const text = key === 'mandatory' && value ? value.split(',').map(storedKey).join() : value;
  const form = formOf(NAMES.indexOf(key));
  const wire = form.toWire(Buffer.from(text, 'latin1'));
  const isTwice = key === 'alpn' && new Set(text.split(',')).size < text.split(',').length;
  // Knot 3.2 reads no name of one octet, NSD 4.6 none with ".$"; IANA has no such names
  const isOdd = key === 'alpn' && text.split(',').some((name) => name.length === 1 || name.includes('$'));
  const isEmpty = !text && key !== 'no-default-alpn';
  const shown = wire && form.toText(wire);
  if (!shown || isTwice || isOdd || isEmpty) return reject(name, WANTED[key] as FieldText);
  return shown.toString('latin1') || undefined;
}

/**
 * The form of parameters that every name server loads (RFC 9460), in the order of their keys, the only one that the API
 * of PowerDNS reads.
 * @param texts `key` or `key=value`, without quotes and escapes
 * @throws InvalidRecord naming the first parameter that is not valid, and the reason
 */
export function storedParams(texts: readonly string[]): string[] {
  const params = new Map<string, string | undefined>();
  for (const text of texts) {
    const [, name, value = ''] = /^([^=]+)=?(.*)$/.exec(text) as unknown as [string, string, string?];
    const key = storedKey(name);
    if (params.has(key)) reject(name, 'is given twice');
    params.set(key, storedValue(name, key, value));
  }
  for (const key of params.get('mandatory')?.split(',') ?? [])
    if (!params.has(key)) reject('mandatory', say('names {name}, which is not given', { name: key }));
  if (params.has('no-default-alpn') && !params.has('alpn')) reject('no-default-alpn', 'is only allowed next to alpn');
  const inOrder = [...params].toSorted(([a], [b]) => Number(keyOf(a)) - Number(keyOf(b)));
  return inOrder.map(([key, value]) => (value === undefined ? key : `${key}=${value}`));
}

/** A stored parameter as it is printed: NSD 4.6 reads some values of unknown keys, such as `.$x`, in quotes only. */
export const printedParam = (param: string): string => param.replace(/^(key\d+)=(.*)$/, '$1="$2"');

/** What needs no quotes in a zone file, nor in the product's own form of a parameter. */
const BARE = /^[!#-'*-:<-[\]-~]*$/;

/** Parameters in presentation form, in the order of their keys; null when they are malformed. */
export function paramsToText(wire: Buffer): string[] | null {
  const params = new Map<number, Buffer>();
  const out: string[] = [];
  for (let at = 0; at < wire.length; ) {
    if (at + 4 > wire.length) return null;
    const key = wire.readUInt16BE(at);
    const end = at + 4 + wire.readUInt16BE(at + 2);
    const value = wire.subarray(at + 4, end);
    const text = end > wire.length || key === INVALID_KEY || params.has(key) ? null : formOf(key).toText(value);
    if (!text) return null;
    params.set(key, value);
    const shown = text.toString('latin1');
    out.push(text.length ? `${keyName(key)}=${BARE.test(shown) ? shown : quoteBytes(text)}` : keyName(key));
    at = end;
  }
  return isWhole(params) ? out : null;
}
