import { domainToASCII, domainToUnicode } from 'node:url';
import { InvalidRecord } from '../platform/common/errors.js';
import { say } from '../platform/common/words/field-text.js';

/**
 * Allowed characters of labels. DNS itself allows every octet, also a hyphen at either end; providers may be stricter
 * and say so.
 */
const LABELS = {
  /** Underscores, and the slash of RFC 2317 delegations; callers check wildcards. */
  owner: { rule: /^[a-z0-9_/-]+$/, words: 'letters, digits, "-", "_" and "/"' },
  /** For targets that must be host names: name servers refuse to load others. */
  host: { rule: /^[a-z0-9_-]+$/, words: 'letters, digits, "-" and "_"' },
  /** Printable, without special characters of zone files. */
  any: { rule: /^[a-z0-9_!#%&'+,/:<=>?[\]^`{|}~-]+$/, words: 'printable ASCII without blanks, " ; ( ) @ $ * and "\\"' },
} as const;
/** The words of `owner` where a wildcard is allowed. */
const WITH_STAR = 'letters, digits, "-", "_" and "/", and "*" as the first label only';

/** A name that is only lowered. */
const PLAIN = /^[\x21-\x7e]{0,1100}$/;

/**
 * Converts a name with IDN labels to A-labels in lower case, keeping a final dot. Plain ASCII names are only lowered,
 * so `_dmarc` and `*` are kept.
 * @returns '' when a label has no A-label form
 */
export function toAscii(name: string): string {
  // most of a zone's names: nothing has to be taken apart
  if (PLAIN.test(name)) return name.toLowerCase();
  // four bytes a character, with margin: conversion takes quadratic time
  if (name.length > 1100) return '';
  const text = name
    .trim()
    .toLowerCase()
    .replace(/[。．｡]/g, '.');
  let broken = false;
  const ascii = text
    .split('.')
    .map((label) => {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is the definition of ASCII
      if (/^[\x00-\x7f]*$/.test(label)) return label;
      const converted = domainToASCII(label);
      if (converted === '') broken = true;
      return converted;
    })
    .join('.');
  return broken ? '' : ascii;
}

/** Unicode form of a name: `xn--bcher-kva.example` -> `bücher.example`; `@`, `*` and `_x` are kept. */
export function toUnicode(name: string): string {
  return name.includes('xn--')
    ? name
        .split('.')
        .map((label) => (label.startsWith('xn--') ? domainToUnicode(label) || label : label))
        .join('.')
    : name;
}

function checkLabels(ascii: string, path: string, kind: keyof typeof LABELS, wildcard = false): void {
  if (ascii === '' || ascii.length > 253) {
    throw new InvalidRecord(path, 'must be a domain name of 1 to 253 characters', 'length', { min: 1, max: 253 });
  }
  ascii.split('.').forEach((label, index) => {
    if (label === '*' && index === 0 && wildcard) return;
    if (label.length === 0)
      throw new InvalidRecord(path, 'has an empty label (two dots in a row, or a dot at the start)');
    if (label.length > 63) {
      const words = say('label "{label}" is longer than 63 characters', { label: `${label.slice(0, 20)}…` });
      throw new InvalidRecord(path, words, 'length', { max: 63 });
    }
    const { rule, words } = LABELS[kind];
    if (!rule.test(label)) {
      const hint = wildcard ? WITH_STAR : words;
      throw new InvalidRecord(path, say('label "{label}" is not allowed: use {hint}', { label, hint }));
    }
  });
}

/**
 * Canonical zone name: lower case, A-labels, no final dot. Accepts IDN and a final dot. @throws InvalidRecord at `path`
 */
export function zoneName(input: string, path = 'name'): string {
  const ascii = toAscii(input).replace(/\.$/, '');
  checkLabels(ascii, path, 'owner');
  return ascii;
}

/**
 * Canonical host of client input, relative to its zone: `@` for the apex, otherwise labels without final dot. Accepts
 * `www`, `WWW`, `*.a`, `_dmarc`, `bücher`, the empty text (apex) and, with a final dot, full names inside the zone. A
 * name that ends with the zone's name but has no final dot is refused: nearly always the full name is meant, and the
 * zone's name would be appended again.
 * @throws InvalidRecord at `host`
 */
export function hostName(input: string, zone: string, path = 'host'): string {
  const ascii = toAscii(input);
  if (ascii === '@' || (ascii === '' && input.trim() === '')) return '@';
  let host = ascii;
  if (ascii.endsWith('.')) {
    const full = ascii.slice(0, -1);
    if (full === zone) return '@';
    if (!full.endsWith(`.${zone}`)) {
      throw new InvalidRecord(path, say('"{name}" is not inside the zone {zone}', { name: input, zone }), 'conflict');
    }
    host = full.slice(0, -zone.length - 1);
  } else if (relativeName(ascii, zone) !== null) {
    const [relative, absolute, doubled] = [relativeName(ascii, zone) as string, `${ascii}.`, `${ascii}.${zone}.`];
    const words = say(
      '"{name}" ends with the name of the zone: write "{relative}", or "{absolute}" with a final dot (and "{doubled}" if the zone is meant twice)',
      { name: input, relative, absolute, doubled },
    );
    throw new InvalidRecord(path, words, 'format', { values: [relative, absolute, doubled] });
  }
  checkLabels(host, path, 'owner', true);
  if (host.length + zone.length + 1 > 253) {
    throw new InvalidRecord(path, 'the full name is longer than 253 characters', 'length', {
      max: 253 - zone.length - 1,
    });
  }
  return host;
}

/** `www`, `example.com` -> `www.example.com`; `@` -> `example.com`. No final dot. */
export const fullName = (host: string, zone: string): string => (host === '@' ? zone : `${host}.${zone}`);

/**
 * Host of an absolute name from a provider (final dot optional, any case); null outside the zone. Not validated:
 * provider data is shown as it is.
 */
export function relativeName(name: string, zone: string): string | null {
  const full = toAscii(name.replace(/\.$/, '')) || name.toLowerCase();
  if (full === zone) return '@';
  return full.endsWith(`.${zone}`) ? full.slice(0, -zone.length - 1) : null;
}

/**
 * Canonical target of CNAME, MX, NS, SRV …: lower case, A-labels, no final dot; `@` is the zone itself. The root (`.`)
 * is accepted only where it has a meaning: null MX (RFC 7505), SRV without service, SVCB/HTTPS.
 * @param kind `host` where the target must be a host name (MX, NS, SRV); a CNAME or PTR may point to any name
 * @throws InvalidRecord at `value`
 */
export function targetName(input: string, zone: string, allowRoot = false, kind: 'any' | 'host' = 'any'): string {
  const path = 'value';
  const text = input.trim();
  if (text === '@') return zone;
  if (text === '.') {
    if (allowRoot) return '.';
    throw new InvalidRecord(path, 'must be a host name, not the root');
  }
  const ascii = toAscii(text).replace(/\.$/, '');
  if (/^[0-9.]+$/.test(ascii) && ascii.split('.').length === 4) {
    throw new InvalidRecord(path, say('must be a host name, not an address ({address})', { address: text }));
  }
  checkLabels(ascii, path, kind);
  return ascii;
}

/**
 * Rejects a name within a value with characters that Knot does not read from zone files. Providers may hold such names.
 * @throws InvalidRecord at `value`
 */
export function assertLoadable(name: string): void {
  if (name !== '.') checkLabels(name, 'value', 'owner');
}

/** @throws InvalidRecord at `value`, with the host name that is meant, where a URL stands for a target */
export function assertNoUrl(value: string): void {
  const url = value.split(/\s/).find((word) => /^[a-z][a-z0-9+.-]*:\/\//i.test(word));
  if (url === undefined) return;
  const host = URL.canParse(url) ? new URL(url).hostname : '';
  const isName = /[a-z]/i.test(host) && !host.startsWith('[');
  if (!isName) throw new InvalidRecord('value', 'must be a host name, not a URL', 'format', {});
  const words = say('must be a host name, not a URL: write "{host}"', { host });
  throw new InvalidRecord('value', words, 'format', { values: [host] });
}

/** Labels of letters, digits and inner hyphens (RFC 952, RFC 1123). */
export const isHostname = (name: string): boolean =>
  name.split('.').every((label) => /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/i.test(label));

/**
 * The mailbox of the SOA that we write for a zone, absolute. Its domain is a host name, as BIND demands: for a zone
 * such as `0/25.2.0.192.in-addr.arpa` a name above it.
 */
export function hostmasterOf(zone: string): string {
  const fits = (name: string) => isHostname(name) && name.length + 'hostmaster.'.length <= 253;
  return `hostmaster.${namesAbove(zone).find(fits) ?? 'localhost'}.`;
}

/** A full name and all above it, the longest first: `www.example.com`, `example.com`, `com`. */
export const namesAbove = (name: string): string[] => name.split('.').map((_, i, labels) => labels.slice(i).join('.'));

/** Name for comparisons: lower case, without final dot; the root is ''. */
export const bareName = (name: string): string => name.replace(/\.$/, '').toLowerCase();

/** Presentation form of a canonical target: absolute, with final dot. */
export const absolute = (target: string): string => (target === '.' ? '.' : `${target}.`);
