import type { DnsRecord } from '../dns/record.js';
import { NotBegun } from './errors.js';

/** What the TXT records of a vendor cannot hold. */
export interface TextLimits {
  /** more UTF-8 bytes than these */
  bytes?: number;
  /** texts that look so, each with the words for it: `[/"/, 'quotes']` */
  never?: readonly (readonly [RegExp, string])[];
}

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
 * Refuses a target that is the root: an MX that takes no mail (RFC 7505), an SRV of a service that is not there.
 * @throws NotBegun `rejected`: nothing was sent
 */
export function refuseRoot({ type, value }: Pick<DnsRecord, 'type' | 'value'>, label: string): void {
  if (!/^(MX|SRV)$/.test(type) || !/(^| )\.$/.test(value)) return;
  throw new NotBegun('rejected', `${label} takes no ${type} record whose target is the root (".")`);
}
