import { absolute } from '../dns/names.js';
import { shownValue } from '../dns/record.js';
import { quoteBytes } from '../dns/text.js';
import { tokens } from '../dns/tokens.js';
import { type Field, fieldsOf } from '../dns/types.js';
import { type FieldText, say } from '../platform/common/words/field-text.js';
import type { PrintedRecord } from './document.js';

/**
 * What octoDNS calls the parts of a value, in the order of its rdata, with older names behind. Types of one part are
 * plain values.
 */
const PARTS: Record<string, readonly (readonly string[])[]> = {
  MX: [
    ['preference', 'priority'],
    ['exchange', 'value'],
  ],
  SRV: [['priority'], ['weight'], ['port'], ['target']],
  CAA: [['flags'], ['tag'], ['value']],
  SSHFP: [['algorithm'], ['fingerprint_type'], ['fingerprint']],
  TLSA: [['certificate_usage'], ['selector'], ['matching_type'], ['certificate_association_data']],
  DS: [['key_tag'], ['algorithm'], ['digest_type'], ['digest']],
  NAPTR: [['order'], ['preference'], ['flags'], ['service'], ['regexp'], ['replacement']],
  URI: [['priority'], ['weight'], ['target']],
  LOC: [
    ...['lat_degrees', 'lat_minutes', 'lat_seconds', 'lat_direction'].map((name) => [name]),
    ...['long_degrees', 'long_minutes', 'long_seconds', 'long_direction'].map((name) => [name]),
    ...['altitude', 'size', 'precision_horz', 'precision_vert'].map((name) => [name]),
  ],
  SVCB: [['svcpriority'], ['targetname']],
  HTTPS: [['svcpriority'], ['targetname']],
};
const PLAIN = ['A', 'AAAA', 'ALIAS', 'CNAME', 'DNAME', 'NS', 'OPENPGPKEY', 'PTR', 'TXT'];

/** Default values of optional parts. */
const DEFAULTS: Record<string, Record<string, string>> = { CAA: { flags: '0' } };

/** Types that octoDNS has and the service can write. */
export const OCTODNS_TYPES: readonly string[] = [...PLAIN, ...Object.keys(PARTS)].sort();

const isNumber = (field: Field | undefined): boolean => field === 'u8' || field === 'u16' || field === 'u32';
const isQuoted = (field: Field | undefined): boolean => field === 'string' || field === 'text';
/** Parameters of services whose values octoDNS has as lists. */
const LISTS: ReadonlySet<string> = new Set(['alpn', 'ipv4hint', 'ipv6hint', 'mandatory']);

/** A record's value as octoDNS has it; undefined when it has no form for it. */
export function octodnsValue(record: PrintedRecord): unknown {
  const { type, priority } = record;
  const parts = PARTS[type];
  if (!parts) {
    if (type === 'TXT') return shownValue(record).replaceAll(';', '\\;');
    return fieldsOf(type)[0] === 'name' ? absolute(record.value) : record.value;
  }
  const words = tokens(priority === null ? record.value : `${priority} ${record.value}`);
  if (!words || words.some(({ bytes, text }) => !Buffer.from(text).equals(bytes))) return undefined;
  const fields = type === 'LOC' ? [] : fieldsOf(type);
  const entries = parts.map(([name], i) => {
    const { text = '', raw = '' } = words[i] ?? {};
    if (isNumber(fields[i]) || (type === 'LOC' && !/^[NSEW]$/.test(text)))
      return [name, Number(text.replace(/m$/, ''))];
    // an escaped dot is part of its label
    return [name, fields[i] === 'name' ? absolute(raw) : text];
  });
  const more = words.slice(parts.length).map(({ raw }) => paramOf(raw));
  return Object.fromEntries([...entries, ...(more.length ? [['svcparams', Object.fromEntries(more)]] : [])]);
}

function paramOf(text: string): [string, unknown] {
  const [, key = '', value] = /^([^=]*)(?:=(.*))?$/s.exec(text) ?? [];
  if (value === undefined) return [key, null];
  return [key, LISTS.has(key) ? value.split(',') : value];
}

/** A value of octoDNS, whose scalars are texts, as input; or what is wrong with it. */
export function inputOf(type: string, value: unknown): { value: string; priority?: unknown } | FieldText {
  const parts = PARTS[type];
  if (parts) return fromParts(type, parts, value);
  if (typeof value !== 'string') return 'must be a string';
  return { value: type === 'TXT' || type === 'SPF' ? value.replaceAll('\\;', ';') : value };
}

function fromParts(type: string, parts: readonly (readonly string[])[], value: unknown): ReturnType<typeof inputOf> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'must be an object';
  const given = value as Record<string, unknown>;
  const known = new Set([...parts.flat(), ...(type === 'SVCB' || type === 'HTTPS' ? ['svcparams'] : [])]);
  const odd = Object.keys(given).find((key) => !known.has(key));
  if (odd !== undefined) return say('"{name}" has no form here', { name: odd.slice(0, 50) });
  const all = { ...DEFAULTS[type], ...given };
  const words = parts.map((names) => names.map((name) => all[name]).find((one) => one !== undefined));
  const missing = words.findIndex((word) => typeof word !== 'string');
  if (missing >= 0) return say('needs "{name}"', { name: parts[missing]?.[0] as string });
  const fields = fieldsOf(type);
  const [first, ...rest] = (words as string[]).map((word, i) =>
    isQuoted(fields[i]) ? quoteBytes(Buffer.from(word)) : word,
  ) as [string, ...string[]];
  if (type === 'MX' || type === 'SRV')
    return { value: rest.join(' '), priority: /^\d+$/.test(first) ? Number(first) : first };
  return { value: [first, ...rest, ...paramsIn(given.svcparams)].join(' ') };
}

/** What YAML has for no value: scalars are read as texts. */
const NO_VALUE: ReadonlySet<unknown> = new Set([null, '', 'null', '~']);

const paramsIn = (params: unknown): string[] =>
  Object.entries((params ?? {}) as object).map(([key, value]) =>
    NO_VALUE.has(value) ? key : `${key}=${Array.isArray(value) ? value.join(',') : value}`,
  );
