import { domainToASCII, domainToUnicode } from 'node:url';
import { InvalidRecord } from '../common/errors.js';

// Hosts of records may hold underscores, a leading wildcard and the slash of RFC 2317 delegations.
const LABEL = /^[a-z0-9_]([a-z0-9_/-]*[a-z0-9_])?$/;

/**
 * A-label form in lower case of a name that may hold IDN labels; the final dot, if any, stays.
 * Names that are plain ASCII are only lowered, so `_dmarc` and `*` pass as they are.
 * @returns '' when a label has no A-label form
 */
export function toAscii(name: string): string {
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

/** The name as people write it: `xn--bcher-kva.example` -> `bücher.example`; `@`, `*` and `_x` stay. */
export function toUnicode(name: string): string {
  return name.includes('xn--')
    ? name
        .split('.')
        .map((label) => (label.startsWith('xn--') ? domainToUnicode(label) || label : label))
        .join('.')
    : name;
}

function checkLabels(ascii: string, path: string, wildcard: boolean): void {
  if (ascii === '' || ascii.length > 253) {
    throw new InvalidRecord(path, 'must be a domain name of 1 to 253 characters');
  }
  ascii.split('.').forEach((label, index) => {
    if (label === '*' && index === 0 && wildcard) return;
    if (label.length === 0)
      throw new InvalidRecord(path, 'has an empty label (two dots in a row, or a dot at the start)');
    if (label.length > 63) throw new InvalidRecord(path, `label "${label.slice(0, 20)}…" is longer than 63 characters`);
    if (!LABEL.test(label)) {
      const rule = wildcard
        ? 'letters, digits, "-", "_", and "*" as the first label only'
        : 'letters, digits, "-" and "_"';
      throw new InvalidRecord(path, `label "${label}" is not allowed: use ${rule}`);
    }
  });
}

/** A zone's name: lower case, A-labels, no final dot. Accepts IDN and a final dot. @throws InvalidRecord at `path` */
export function zoneName(input: string, path = 'name'): string {
  const ascii = toAscii(input).replace(/\.$/, '');
  checkLabels(ascii, path, false);
  return ascii;
}

/**
 * The host of a record relative to its zone: `@` for the apex, else labels without final dot.
 * `www`, `WWW`, `*.a`, `_dmarc`, `bücher`, the empty text (apex) and, with a final dot, full names inside the zone are accepted.
 * @throws InvalidRecord at `host`
 */
export function hostName(input: string, zone: string, path = 'host'): string {
  const ascii = toAscii(input);
  if (ascii === '@' || (ascii === '' && input.trim() === '')) return '@';
  let host = ascii;
  if (ascii.endsWith('.')) {
    const full = ascii.slice(0, -1);
    if (full === zone) return '@';
    if (!full.endsWith(`.${zone}`)) throw new InvalidRecord(path, `"${input}" is not inside the zone ${zone}`);
    host = full.slice(0, -zone.length - 1);
  }
  checkLabels(host, path, true);
  if (host.length + zone.length + 1 > 253) throw new InvalidRecord(path, 'the full name is longer than 253 characters');
  return host;
}

/** `www`, `example.com` -> `www.example.com`; `@` -> `example.com`. No final dot. */
export const fullName = (host: string, zone: string): string => (host === '@' ? zone : `${host}.${zone}`);

/**
 * The host of an absolute name (final dot optional, any case) that a provider sent, or null when it lies outside the zone.
 * Nothing is validated: what exists at a provider is shown as it is.
 */
export function relativeName(name: string, zone: string): string | null {
  const full = toAscii(name.replace(/\.$/, '')) || name.toLowerCase();
  if (full === zone) return '@';
  return full.endsWith(`.${zone}`) ? full.slice(0, -zone.length - 1) : null;
}

/**
 * A target of CNAME, MX, NS, SRV …: lower case, A-labels, no final dot; `@` is the zone itself.
 * The root (`.`) is only accepted where it has a meaning: null MX (RFC 7505), SRV without service, SVCB/HTTPS.
 * @throws InvalidRecord at `value`
 */
export function targetName(input: string, zone: string, allowRoot = false, path = 'value'): string {
  const text = input.trim();
  if (text === '@') return zone;
  if (text === '.') {
    if (allowRoot) return '.';
    throw new InvalidRecord(path, 'must be a host name, not the root');
  }
  const ascii = toAscii(text).replace(/\.$/, '');
  if (/^[0-9.]+$/.test(ascii) && ascii.split('.').length === 4) {
    throw new InvalidRecord(path, `must be a host name, not an address (${text})`);
  }
  checkLabels(ascii, path, false);
  return ascii;
}

/** A canonical target as DNS presentation text, absolute: with its final dot. */
export const absolute = (target: string): string => (target === '.' ? '.' : `${target}.`);
