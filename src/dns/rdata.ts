import { isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { InvalidRecord } from '../platform/common/errors.js';
import { type FieldText, say } from '../platform/common/words/field-text.js';
import { hexadecimal } from './addresses.js';
import { locationText, readLocation } from './location.js';
import { absolute, targetName } from './names.js';
import { PART_NAMES } from './part-names.js';
import { printedParam } from './service-params.js';
import { quoteBytes, txtFromInput, txtPresentation } from './text.js';
import { type Token, tokens, wordsOf } from './tokens.js';
import { type Field, fieldsOf, MAXIMUM } from './types.js';

/** Types that every provider is expected to support. */
export const RECORD_TYPES = ['A', 'AAAA', 'CNAME', 'MX', 'TXT', 'NS', 'SRV', 'CAA'] as const;
/** Types that only some providers support. */
export const EXTRA_TYPES = [
  ...(['SVCB', 'HTTPS', 'TLSA', 'SSHFP', 'NAPTR', 'DS', 'PTR', 'ALIAS', 'LOC', 'URI', 'RP', 'DHCID'] as const),
  ...(['DNAME', 'DNSKEY', 'OPENPGPKEY', 'SMIMEA'] as const),
] as const;
export type RecordType = (typeof RECORD_TYPES)[number] | (typeof EXTRA_TYPES)[number];

type Fields = { value: string; priority: number | null };
/** Parser and printer of one type's value. */
export type Rule = {
  /** Canonical value and priority of input from a user or a provider. */
  parse(value: string, priority: number | null, zone: string): Fields;
  /** Rdata in presentation form with absolute names. */
  print(value: string, priority: number | null): string;
};

const fail = (message: FieldText): never => {
  throw new InvalidRecord('value', message);
};

const integer = (text: string | undefined, max: number, part: string): number => {
  if (text === undefined || !/^\d{1,10}$/.test(text) || Number(text) > max) {
    return fail(say('{part} must be a number from 0 to {max}', { part, max }));
  }
  return Number(text);
};

const plain = (parse: (value: string, zone: string) => string, print = (value: string) => value): Rule => ({
  parse: (value, _priority, zone) => ({ value: parse(value, zone), priority: null }),
  print,
});

const ipv4 = (value: string) =>
  isIPv4(value.trim()) ? value.trim() : fail('must be an IPv4 address such as 192.0.2.1');

function ipv6(value: string): string {
  const text = value.trim();
  if (!isIPv6(text) || text.includes('%')) return fail('must be an IPv6 address such as 2001:db8::1');
  const address = ipaddr.IPv6.parse(hexadecimal(text));
  return address.isIPv4MappedAddress() ? `::ffff:${address.toIPv4Address()}` : hexadecimal(text);
}

const name = plain((value, zone) => targetName(value, zone), absolute);
const host = plain((value, zone) => targetName(value, zone, false, 'host'), absolute);

const BROKEN = 'has a quote that is not closed or stands inside a word, or a broken escape';

function parts(value: string): Token[] {
  return tokens(value) ?? fail(BROKEN);
}

const hex = (text: string, part: string) =>
  /^([0-9a-f]{2})+$/i.test(text) ? text.toLowerCase() : fail(say('{part} must be hexadecimal', { part }));

/** Canonical base64 (RFC 4648 section 4): padded, the bits that are not used being zero. */
const base64 = (text: string, part: string) =>
  /^(?:[a-z0-9+/]{4})*(?:[a-z0-9+/]{2}==|[a-z0-9+/]{3}=)?$/i.test(text)
    ? Buffer.from(text, 'base64').toString('base64')
    : fail(say('{part} must be base64', { part }));

/** Numbers, then hexadecimal or base64 text that may contain blanks. */
const numbersAndData = (type: RecordType): Rule => {
  const all = PART_NAMES[type].map((part) => part.replaceAll('_', ' '));
  const names = all.slice(0, -1);
  const last = all.at(-1) as string;
  return plain((value) => {
    const words = value.trim().split(/\s+/);
    if (words.length <= names.length || !words[0]) return fail(say('must be {parts}', { parts: all.join(' ') }));
    const fields = fieldsOf(type);
    const numbers = names.map((what, i) => integer(words[i], MAXIMUM[fields[i] as Field] as number, what));
    const data = words.slice(names.length).join('');
    return [...numbers, fields.at(-1) === 'base64' ? base64(data, last) : hex(data, last)].join(' ');
  });
};

/** RFC 1183: the mailbox, whose first label may have dots, and the name of a TXT; the root stands for none. */
const rp = plain(
  (value, zone) => {
    const words = value.trim().split(/\s+/);
    if (words.length !== 2) return fail('must be the mailbox as a name, and the name of a TXT record or "."');
    if (value.includes('|')) return fail('has "|" in a name');
    // stands for an escaped dot while the labels are checked
    return words.map((word) => targetName(word.replaceAll('\\.', '|'), zone, true).replaceAll('|', '\\.')).join(' ');
  },
  (value) => value.split(' ').map(absolute).join(' '),
);

const mx: Rule = {
  parse(value, priority, zone) {
    const words = value.trim().split(/\s+/);
    if (words.length === 2 && priority === null) {
      return mx.parse(words[1] as string, integer(words[0], 65535, 'priority'), zone);
    }
    if (words.length !== 1) return fail('must be the mail host alone; the preference goes into "priority"');
    const target = targetName(value, zone, true, 'host');
    return { value: target, priority: priority ?? (target === '.' ? 0 : 10) };
  },
  print: (value, priority) => `${priority} ${absolute(value)}`,
};

const srv: Rule = {
  parse(value, priority, zone) {
    const words = value.trim().split(/\s+/);
    if (words.length === 4 && priority === null) {
      return srv.parse(words.slice(1).join(' '), integer(words[0], 65535, 'priority'), zone);
    }
    if (words.length !== 3) return fail('must be "weight port target"; the priority goes into "priority"');
    const [weight, port, target] = words as [string, string, string];
    const numbers = `${integer(weight, 65535, 'weight')} ${integer(port, 65535, 'port')}`;
    return { value: `${numbers} ${targetName(target, zone, true, 'host')}`, priority: priority ?? 0 };
  },
  print(value, priority) {
    const [weight, port, target] = value.split(' ') as [string, string, string];
    return `${priority} ${weight} ${port} ${absolute(target)}`;
  },
};

const caa = plain((value) => {
  const match = /^(\d{1,3})\s+([A-Za-z0-9]{1,255})\s+(\S[\s\S]*)$/.exec(value.trim());
  if (!match) return fail('must be flags, tag and value, such as 0 issue "letsencrypt.org"');
  const [, flags, tag, rest] = match as unknown as [string, string, string, string];
  const text = rest.startsWith('"') ? parts(rest) : [{ bytes: Buffer.from(rest, 'utf8') }];
  if (text.length > 1) return fail('has more than one quoted value');
  const bytes = text[0]?.bytes ?? Buffer.alloc(0);
  if (bytes.some((b) => b < 0x20 || b === 0x7f)) return fail('has a control character');
  return `${integer(flags, 255, 'flags')} ${tag.toLowerCase()} ${quoteBytes(bytes)}`;
});

const txt = plain((value) => {
  const text = txtFromInput(value);
  // not every database can store one
  if (text.includes('\0')) return fail('has a NUL character');
  return text;
}, txtPresentation);

// printable, without special characters of zone files
const SERVICE_PARAM = /^[a-z0-9-]{1,63}(=[!#-'*-:<-[\]-~]*)?$/i;

const service = plain(
  (value, zone) => {
    const [priority, target, ...rest] = wordsOf(value) ?? fail(BROKEN);
    if (!priority || !target) return fail('must be "priority target [key=value …]"');
    const head = `${integer(priority.raw, 65535, 'priority')} ${targetName(target.raw, zone, true)}`;
    // providers quote parameters inconsistently; unnecessary quotes are removed
    const params = rest.map((word) => (word.quoted ? `"${word.raw}"` : word.raw.replace(/="([^"\\]*)"$/, '=$1')));
    const odd = params.find((word) => !SERVICE_PARAM.test(word));
    if (odd !== undefined)
      return fail(
        say('parameter {parameter} must be key or key=value, without blanks, quotes, ";", "(" or "\\"', {
          parameter: odd,
        }),
      );
    return [head, ...params].join(' ');
  },
  (value) => {
    const [priority, target, ...rest] = value.split(' ') as [string, string];
    return [priority, absolute(target), ...rest.map(printedParam)].join(' ');
  },
);

const naptr = plain(
  (value, zone) => {
    const words = parts(value);
    if (words.length !== 6) return fail('must be order, preference, "flags", "service", "regexp" and replacement');
    const numbers = `${integer(words[0]?.raw, 65535, 'order')} ${integer(words[1]?.raw, 65535, 'preference')}`;
    const strings = words.slice(2, 5).map((word) => quoteBytes(word.bytes));
    // unchanged: an escaped dot is part of its label
    return [numbers, ...strings, targetName((words[5] as Token).raw, zone, true)].join(' ');
  },
  (value) => value.replace(/ (\S+)$/, (_all, target: string) => ` ${absolute(target)}`),
);

const uri = plain((value) => {
  const words = parts(value);
  if (words.length !== 3) return fail('must be priority, weight and "target"');
  const [priority, weight, target] = words as [Token, Token, Token];
  return `${integer(priority.raw, 65535, 'priority')} ${integer(weight.raw, 65535, 'weight')} ${quoteBytes(target.bytes)}`;
});

const loc = plain((value) => {
  const location = readLocation(value);
  return location ? locationText(location) : fail('must be a location such as 52 22 23.000 N 4 53 32.000 E -2.00m');
});

/** Every type that the service can validate and write. */
export const RULES: Record<RecordType, Rule> = {
  A: plain(ipv4),
  // PowerDNS 4.7 rejects mapped addresses in the form it returns; every server accepts hexadecimal
  AAAA: plain(ipv6, hexadecimal),
  CNAME: name,
  MX: mx,
  TXT: txt,
  NS: host,
  SRV: srv,
  CAA: caa,
  SVCB: service,
  HTTPS: service,
  TLSA: numbersAndData('TLSA'),
  SSHFP: numbersAndData('SSHFP'),
  NAPTR: naptr,
  DS: numbersAndData('DS'),
  PTR: name,
  ALIAS: name,
  LOC: loc,
  URI: uri,
  RP: rp,
  DHCID: numbersAndData('DHCID'),
  DNAME: name,
  DNSKEY: numbersAndData('DNSKEY'),
  OPENPGPKEY: numbersAndData('OPENPGPKEY'),
  SMIMEA: numbersAndData('SMIMEA'),
};

/** Whether the service can validate and write records of this type. */
export const isKnownType = (type: string): type is RecordType => Object.hasOwn(RULES, type);
