import type { RecordType } from '../../src/dns/record.js';
import type { Dice } from './dice.js';

/** A value as a client sends it. */
export interface Given {
  value: string;
  priority?: number;
}

type Make = (dice: Dice) => string;

const repeated = (text: string, times: number): string => text.repeat(times);
const listOf = (dice: Dice, min: number, max: number, make: Make, separator: string): string =>
  Array.from({ length: dice.int(min, max) }, () => make(dice)).join(separator);

/** A number of a field, its bounds, and numbers beyond them. */
const number =
  (max: number): Make =>
  (dice) =>
    dice.chance(0.12)
      ? dice.of([String(max + 1), '-1', 'x', '1.5', '00', '007', '+1', '1e1'])
      : String(dice.of([0, 1, 2, 3, 4, 5, 13, 127, 128, max - 1, max, dice.int(0, max)].filter((n) => n <= max)));
const [u8, u16] = [number(255), number(65_535)];

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789-';
const PRINTABLE = Array.from({ length: 94 }, (_, i) => String.fromCharCode(0x21 + i)).join('');
const charsOf = (dice: Dice, alphabet: string, length: number): string =>
  Array.from({ length }, () => dice.of([...alphabet])).join('');

const label: Make = (dice) => {
  if (dice.chance(0.06)) return charsOf(dice, PRINTABLE, dice.int(1, 8));
  if (dice.chance(0.08))
    return dice.of(['_tcp', '-a', 'a-', 'a/b', 'a_b', '*', '', '_', '-', '2', 'Ü', '例え', 'xn--a']);
  return charsOf(dice, ALPHABET, dice.of([1, 2, 3, 8, 62, 63, dice.chance(0.1) ? 64 : 5]));
};
const name: Make = (dice) => {
  if (dice.chance(0.1))
    return dice.of(['.', '@', '', '192.0.2.1', 'a..b', '..', 'localhost', 'www', 'WWW.Example.NET', 'a b.example']);
  // at the longest, and beyond
  if (dice.chance(0.06)) return `${repeated(`${repeated('a', 63)}.`, 3)}${repeated('b', dice.of([60, 61, 62]))}`;
  return `${listOf(dice, 1, 4, label, '.')}.example.net${dice.of(['', '', '.'])}`;
};

const DIGITS = '0123456789abcdefABCDEF';
const octetsOf: Make = (dice) => {
  const length = dice.of([0, 1, 19, 20, 21, 31, 32, 33, 47, 48, 63, 64, 65, dice.int(1, 300)]);
  const hex = charsOf(dice, DIGITS, 2 * length);
  return dice.chance(0.05) ? `${hex}a` : dice.chance(0.1) ? `${hex.slice(0, 8)} ${hex.slice(8)}` : hex;
};
/** Hexadecimal text whose length mostly is that of a digest. */
const digest: Make = (dice) =>
  dice.chance(0.7) ? charsOf(dice, DIGITS, 2 * dice.of([20, 32, 48, 64])) : octetsOf(dice);
const base64: Make = (dice) => {
  const text = Buffer.from(charsOf(dice, PRINTABLE, dice.of([0, 1, 2, 3, 4, 32, dice.int(0, 600)]))).toString('base64');
  return dice.chance(0.1) ? text.replace(/=+$/, '') : text;
};

const UNITS = [
  ...PRINTABLE,
  ' ',
  ' ',
  '\t',
  '\\"',
  '\\\\',
  '\\065',
  '\\200',
  '\\000',
  'ü',
  '漢',
  '“',
  '\\',
  '"',
  ';',
  '(',
];
const text: Make = (dice) => {
  if (dice.chance(0.15)) return repeated(dice.of(['x', 'ü', '\\;', '"']), dice.of([0, 254, 255, 256, 510, 511, 4000]));
  return Array.from({ length: dice.int(0, 40) }, () => dice.of(UNITS)).join('');
};
const quoted: Make = (dice) => {
  if (dice.chance(0.1)) return dice.of(['“a”', '"', '"a" "b"', 'a', '""', '"a"b']);
  return `"${text(dice).replaceAll('"', '')}"`;
};

const ipv4: Make = (dice) =>
  dice.chance(0.15)
    ? dice.of(['256.0.0.1', '192.0.2', '192.0.2.01', '0.0.0.0', '255.255.255.255', '::1', 'auto', ''])
    : Array.from({ length: 4 }, () => dice.int(0, 255)).join('.');
const ipv6: Make = (dice) => {
  if (dice.chance(0.4))
    return dice.of([
      ...['::', '::1', '::192.0.2.1', '::ffff:192.0.2.1', '::ffff:c000:201', '64:ff9b::192.0.2.1', 'fe80::1%eth0'],
      ...['1::2::3', '2001:DB8::A', '12345::', 'ff02::1', '192.0.2.1', 'auto', '::ffff:0:192.0.2.1', '1:2:3:4:5:6:7::'],
    ]);
  return Array.from({ length: 8 }, () => (dice.chance(0.4) ? '0' : dice.int(0, 65_535).toString(16))).join(':');
};

const PROTOCOLS = [
  'h2',
  'h3',
  'http/1.1',
  'dot',
  'doq',
  'h3-29',
  'x=y',
  'h2.$x',
  'a,b',
  '',
  repeated('p', 255),
  repeated('p', 256),
];
const KEYS = [
  ...['alpn', 'port', 'ipv4hint', 'ipv6hint', 'no-default-alpn', 'ech', 'key667', 'key65534', 'dohpath', 'ohttp'],
  ...['key9', 'key10', 'key100'],
];
const ODD_KEYS = ['key65535', 'key65536', 'key0667', 'key3', 'key1', 'key7', 'key8', 'ALPN', 'foo', 'mandatory', 'key'];
const VALUES_OF: Record<string, Make> = {
  alpn: (dice) => listOf(dice, 1, 3, (d) => d.of(PROTOCOLS), ','),
  port: u16,
  ipv4hint: (dice) => listOf(dice, 1, 3, ipv4, ','),
  ipv6hint: (dice) => listOf(dice, 1, 3, ipv6, ','),
  ech: base64,
  dohpath: (dice) => dice.of(['/dns-query{?dns}', '/q{?dns,x}', '/{?dns}', 'dns{?dns}', '/dns-query', '', '/a{?dns}b']),
};
function param(dice: Dice): string {
  const key = dice.of(dice.chance(0.1) ? ODD_KEYS : KEYS);
  const hasNone = ['no-default-alpn', 'ohttp', 'key8'].includes(key);
  if (hasNone ? dice.chance(0.9) : dice.chance(0.05)) return key;
  const value = VALUES_OF[key]?.(dice) ?? charsOf(dice, PRINTABLE.replace(/["\\;()]/g, ''), dice.int(0, 12));
  return dice.chance(0.2) ? `${key}="${value}"` : `${key}=${value}`;
}
function service(dice: Dice): string {
  const params = Array.from({ length: dice.int(0, 4) }, () => param(dice));
  const all = dice.chance(0.1) ? params : [...new Map(params.map((one) => [one.replace(/=.*/s, ''), one])).values()];
  const named = all.map((one) => one.replace(/=.*/s, ''));
  const needed = named.filter(() => dice.chance(0.7));
  if (dice.chance(0.3)) all.push(`mandatory=${(needed.length ? needed : ['alpn']).join()}`);
  return [dice.chance(0.15) ? '0' : u16(dice), dice.chance(0.4) ? '.' : name(dice), ...all].join(' ');
}

const EXPRESSIONS = [
  ...[
    '^.*$',
    '(.*)',
    '^(a|b)+$',
    '[a-z]',
    '[^0-9]{2,3}',
    'a{1,255}',
    'a{256}',
    'a{2,1}',
    '[[:alpha:]]',
    '^\\\\+1(.*)$',
  ],
  ...[
    '(a',
    'a)',
    '[z-a]',
    '[a',
    'a**',
    '*a',
    'a||b',
    '()',
    '|',
    '',
    '\\\\1',
    '(a)\\\\1',
    '[]a]',
    '[a-]',
    '{1}',
    '^*',
    'a.b',
  ],
  ...['[[:foo:]]', 'a\\\\', '((a)(b))', 'a{1', 'a}', '[[.a.]]', '^+', '[\\\\]', '$a^', '(^a|b$)'],
];
const REPLACEMENTS = ['sip:info@example.net', '\\\\1', '\\\\2', '\\\\0', '', 'a', 'sip:\\\\1@b;c', '\\\\!'];
const REGEX_CHARS = '.*+?()[]{}|^$,-:=12ab';
function regexp(dice: Dice): string {
  if (dice.chance(0.2)) return dice.of(['""', '"!"', '"!!!"', quoted(dice), `"${repeated('a', dice.of([255, 256]))}"`]);
  const delimiter = dice.of(['!', '!', '!', '/', '#', 'i', '1', '|', '~', '@']);
  const expression = dice.chance(0.5) ? dice.of(EXPRESSIONS) : charsOf(dice, REGEX_CHARS, dice.int(1, 8));
  const flags = dice.of(['', '', 'i', 'ii', 'g']);
  return `"${[delimiter, expression, delimiter, dice.of(REPLACEMENTS), delimiter, flags].join('')}"`;
}

const degrees = (dice: Dice, max: number, letters: string): string => {
  const parts = [String(dice.of([0, 1, max - 1, max, dice.int(0, max), dice.chance(0.1) ? max + 1 : 7]))];
  if (dice.chance(0.7)) parts.push(String(dice.of([0, 59, dice.int(0, 59), dice.chance(0.1) ? 60 : 7])));
  if (parts.length === 2 && dice.chance(0.7))
    parts.push(dice.of(['0', '59.999', '60', '23.001', '0.0005', '59.9994', '1.']));
  return `${parts.join(' ')} ${dice.of([...letters])}`;
};
const metres: Make = (dice) =>
  dice.of(['0', '1m', '0.01m', '0.07', '90000000.00m', '90000000.01', '12345.67m', '99999999m', '10', '1e3', '.5', '']);
const location: Make = (dice) => {
  const altitude = dice.of([
    '0',
    '-2.00m',
    '-100000m',
    '-100000.00m',
    '-100000.01m',
    '42849672.95m',
    '42849672.96m',
    '10m',
    '1.234',
  ]);
  const sizes = Array.from({ length: dice.int(0, 3) }, () => metres(dice));
  return [degrees(dice, 90, 'NSns'), degrees(dice, 180, 'EWew'), altitude, ...sizes].join(' ');
};

const TEXTS = [() => repeated('x', 65_254), () => repeated('x', 65_255), () => '“a”', () => '"a\\000b"'];
const TAGS = ['issue', 'issuewild', 'iodef', 'issuemail', 'ISSUE', 'a', 'is-sue', repeated('t', 255), 'unknown1', ''];

/** Values of each type: valid ones, those at the bounds, and invalid ones. */
export const MAKE: Record<RecordType, (dice: Dice) => Given> = {
  A: (dice) => ({ value: ipv4(dice) }),
  AAAA: (dice) => ({ value: ipv6(dice) }),
  CNAME: (dice) => ({ value: name(dice) }),
  MX: (dice) => ({ value: name(dice), ...(dice.chance(0.8) && { priority: dice.of([0, 1, 10, 65_535, 65_536]) }) }),
  TXT: (dice) => ({ value: dice.chance(0.1) ? dice.of(TEXTS)() : text(dice) }),
  NS: (dice) => ({ value: name(dice) }),
  SRV: (dice) => ({ value: `${u16(dice)} ${u16(dice)} ${name(dice)}`, priority: dice.of([0, 1, 65_535]) }),
  CAA: (dice) => ({ value: `${u8(dice)} ${dice.of(TAGS)} ${dice.chance(0.8) ? quoted(dice) : text(dice)}` }),
  SVCB: (dice) => ({ value: service(dice) }),
  HTTPS: (dice) => ({ value: service(dice) }),
  TLSA: (dice) => ({ value: `${u8(dice)} ${u8(dice)} ${dice.of([0, 1, 2, 3, 255])} ${digest(dice)}` }),
  SSHFP: (dice) => ({ value: `${u8(dice)} ${dice.of([0, 1, 2, 3, 255])} ${digest(dice)}` }),
  NAPTR: (dice) => ({
    value: `${u16(dice)} ${u16(dice)} ${dice.chance(0.7) ? '"u"' : quoted(dice)} ${dice.chance(0.7) ? '"E2U+sip"' : quoted(dice)} ${regexp(dice)} ${dice.chance(0.6) ? '.' : name(dice)}`,
  }),
  DS: (dice) => ({ value: `${u16(dice)} ${u8(dice)} ${dice.of([0, 1, 2, 3, 4, 5, 255])} ${digest(dice)}` }),
  PTR: (dice) => ({ value: name(dice) }),
  ALIAS: (dice) => ({ value: name(dice) }),
  LOC: (dice) => ({ value: location(dice) }),
  URI: (dice) => ({ value: `${u16(dice)} ${u16(dice)} ${quoted(dice)}` }),
  RP: (dice) => ({ value: `${dice.chance(0.2) ? `a\\.${name(dice)}` : name(dice)} ${name(dice)}` }),
  DHCID: (dice) => ({ value: base64(dice) }),
  DNAME: (dice) => ({ value: name(dice) }),
  DNSKEY: (dice) => ({ value: `${u16(dice)} ${dice.of([0, 2, 3, 3, 3, 3, 4, 255])} ${u8(dice)} ${base64(dice)}` }),
  OPENPGPKEY: (dice) => ({ value: base64(dice) }),
  SMIMEA: (dice) => ({ value: `${u8(dice)} ${u8(dice)} ${dice.of([0, 1, 2, 3, 255])} ${digest(dice)}` }),
};

/**
 * A host that no other one of the run is below or above. PowerDNS takes DNSKEY at the apex only, where a zone has it.
 * @param unique a label of its own
 */
export const hostOf = (dice: Dice, type: RecordType, unique: string): string =>
  type === 'DNSKEY'
    ? '@'
    : dice.chance(0.75)
      ? unique
      : dice.of([
          `_${unique}`,
          `-${unique}`,
          `${unique}-`,
          `a/${unique}`,
          `*.${unique}`,
          `gc._msdcs.${unique}`,
          `b._dns-sd._udp.${unique}`,
        ]);
