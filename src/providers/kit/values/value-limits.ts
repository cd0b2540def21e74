import type { DnsRecord } from '../../../dns/record.js';
import { tokens, txtPresentation, utf8OrNull } from '../../../dns/text.js';
import { NotBegun } from '../http/errors.js';

/** What the TXT records of a vendor cannot hold. */
interface TextLimits {
  /** more UTF-8 bytes than these */
  bytes?: number;
  /** texts that look so, each with the words for it: `[/"/, 'quotes']` */
  never?: readonly (readonly [RegExp, string])[];
}

/** The highest priority of an MX at all vendors that have such a bound so far. */
const MOST = 50;

/** For `never`. */
export const EMPTY = [/^$/, 'nothing in it'] as const;

/**
 * Refuses a text that the vendor would refuse in words of its own, or store as another one.
 * @throws NotBegun `rejected`: nothing was sent
 */
export function refuseText(
  { type, value }: Pick<DnsRecord, 'type' | 'value'>,
  label: string,
  { bytes = Number.POSITIVE_INFINITY, never = [] }: TextLimits,
): void {
  if (type !== 'TXT') return;
  const words = Buffer.byteLength(value) > bytes ? `more than ${bytes} bytes` : undefined;
  const why = words ?? never.find(([pattern]) => pattern.test(value))?.[1];
  if (why) throw new NotBegun('rejected', `${label} takes no TXT value with ${why}`);
}

/**
 * Refuses an MX whose priority is out of the vendor's range.
 * @throws NotBegun `rejected`: nothing was sent
 */
export function refusePriority({ type, priority }: Pick<DnsRecord, 'type' | 'priority'>, label: string, min = 0): void {
  const given = priority ?? 0;
  if (type !== 'MX' || (given >= min && given <= MOST)) return;
  throw new NotBegun('rejected', `${label} takes MX priorities of ${min} to ${MOST}`);
}

/**
 * Refuses a target that is the root: an MX that takes no mail (RFC 7505), an SRV of a service that is not there.
 * @throws NotBegun `rejected`: nothing was sent
 */
export function refuseRoot({ type, value }: Pick<DnsRecord, 'type' | 'value'>, label: string): void {
  if (!/^(MX|SRV)$/.test(type) || !/(^| )\.$/.test(value)) return;
  throw new NotBegun('rejected', `${label} takes no ${type} record whose target is the root (".")`);
}

/**
 * The strings of TXT rdata for a vendor that takes them in a list, at most 255 octets each, as they are where each is
 * text: a character that stands across two is not cut.
 */
export function textStrings(rdata: string): string[] {
  const parts = (tokens(rdata) ?? []).map(({ bytes }) => bytes);
  if (parts.every((bytes) => utf8OrNull(bytes) !== null)) return parts.map(String);
  const out = [''];
  for (const c of Buffer.concat(parts).toString('utf8')) {
    if (Buffer.byteLength(`${out.at(-1)}${c}`) > 255) out.push('');
    out.push(`${out.pop()}${c}`);
  }
  return out;
}

/**
 * A text for a vendor that keeps it as it is, and reads strings in quotes where there are such: where it has quotes of
 * its own, or is longer than one string, it is sent so.
 */
export function textOrStrings(text: string): string {
  if (!text.includes('"') && Buffer.byteLength(text) <= 255) return text;
  const quoted = (one: string) => `"${one.replace(/["\\]/g, '\\$&')}"`;
  return textStrings(txtPresentation(text)).map(quoted).join(' ');
}
