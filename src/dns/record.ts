import { InvalidRecord } from '../common/errors.js';
import { hostName, relativeName } from './names.js';
import { EXTRA_TYPES, isKnownType, RECORD_TYPES, RULES } from './rdata.js';
import { txtFromPresentation } from './text.js';

export { EXTRA_TYPES, isKnownType, RECORD_TYPES, type RecordType } from './rdata.js';

/** Kept by the name server itself or derived by its signer: never shown, never written. */
export const MANAGED_TYPES: ReadonlySet<string> = new Set(['SOA', 'RRSIG', 'NSEC', 'NSEC3', 'NSEC3PARAM', 'ZONEMD']);

export const DEFAULT_TTL = 600;
export const MAX_TTL = 2147483647;

/**
 * One record in the form that all of the service compares, stores and shows.
 *
 * | type | value | priority |
 * |---|---|---|
 * | A, AAAA | address; AAAA as in RFC 5952 | null |
 * | CNAME, NS, PTR, ALIAS | A-label name, lower case, no final dot | null |
 * | MX | target | 0..65535 |
 * | SRV | `weight port target` | 0..65535 |
 * | CAA | `flags tag "value"` | null |
 * | TXT | the text itself, any length, not quoted, not split | null |
 * | others | rdata in presentation form, single blanks, names without final dot | null |
 */
export interface DnsRecord {
  /** `@`, `www`, `*.a`, `_dmarc`: relative to the zone, lower case, A-labels */
  host: string;
  type: string;
  value: string;
  /** seconds */
  ttl: number;
  priority: number | null;
  weight: number | null;
  /** routing line of providers that have them, else `default` */
  line: string;
  proxied: boolean;
  enabled: boolean;
}

/** What makes two records the same one: host, type, value and line; of MX and SRV the priority is an attribute. */
export const sameRecord = (a: DnsRecord, b: DnsRecord): boolean =>
  a.host === b.host && a.type === b.type && a.value === b.value && a.line === b.line;

/** A record as a client gave it; what is left out takes the default of the specification. */
export interface LooseRecord {
  host: string;
  type: string;
  value: string;
  ttl?: number | null;
  priority?: number | null;
  weight?: number | null;
  line?: string | null;
  proxied?: boolean | null;
  enabled?: boolean;
}

/**
 * The canonical form of a record of the zone `zone`. API input, provider answers and imports all pass through here.
 * @throws InvalidRecord (400001) naming `host`, `type`, `value`, `ttl` or `priority`, in words that a user understands
 */
export function dnsRecord(input: LooseRecord, zone: string): DnsRecord {
  const type = input.type.toUpperCase();
  if (!isKnownType(type)) {
    throw new InvalidRecord('type', `must be one of ${[...RECORD_TYPES, ...EXTRA_TYPES].join(', ')}`);
  }
  const ttl = input.ttl ?? DEFAULT_TTL;
  if (!Number.isInteger(ttl) || ttl < 1 || ttl > MAX_TTL) {
    throw new InvalidRecord('ttl', `must be a whole number of seconds from 1 to ${MAX_TTL}`);
  }
  const priority = type === 'MX' || type === 'SRV' ? (input.priority ?? null) : null;
  if (priority !== null && (!Number.isInteger(priority) || priority < 0 || priority > 65535)) {
    throw new InvalidRecord('priority', 'must be a whole number from 0 to 65535');
  }
  const host = hostName(input.host, zone);
  if (type === 'CNAME' && host === '@') {
    throw new InvalidRecord(
      'type',
      'CNAME is not allowed at the apex of a zone, beside SOA and NS; use A/AAAA or ALIAS',
    );
  }
  return {
    host,
    type,
    ...RULES[type].parse(input.value, priority, zone),
    ttl,
    weight: input.weight ?? null,
    line: input.line || 'default',
    proxied: input.proxied ?? false,
    enabled: input.enabled ?? true,
  };
}

/** The rdata of a canonical record in presentation form (RFC 1035), names absolute with final dot, TXT quoted and split. */
export function rdataOf(record: Pick<DnsRecord, 'type' | 'value' | 'priority'>): string {
  return isKnownType(record.type) ? RULES[record.type].print(record.value, record.priority) : record.value;
}

/** A record as a provider holds it. */
export interface RemoteRecord extends DnsRecord {
  /** the provider's id, or one derived from the content where the provider has none (see `providers/rrset.ts`) */
  remoteId: string;
  /** true when the service can show but not edit it: an unknown type, or content it cannot express */
  readOnly: boolean;
}

/**
 * A record from rdata in presentation form, as name servers and zone files hold it. Never throws: what the service cannot express
 * is returned read-only with its rdata as value.
 * @param name absolute owner name, final dot optional
 * @returns null for names outside the zone and for types that the server manages itself (SOA, RRSIG …)
 */
export function fromRdata(
  name: string,
  type: string,
  rdata: string,
  ttl: number,
  zone: string,
  enabled = true,
): Omit<RemoteRecord, 'remoteId'> | null {
  const host = relativeName(name, zone);
  if (host === null || MANAGED_TYPES.has(type)) return null;
  const rest = { host, type, ttl, weight: null, line: 'default', proxied: false, enabled };
  try {
    if (!isKnownType(type)) return { ...rest, value: rdata, priority: null, readOnly: true };
    if (type === 'TXT') {
      const text = txtFromPresentation(rdata);
      return text === null
        ? { ...rest, value: rdata, priority: null, readOnly: true }
        : { ...rest, value: text, priority: null, readOnly: false };
    }
    return { ...rest, ...RULES[type].parse(rdata, null, zone), readOnly: false };
  } catch (error) {
    if (error instanceof InvalidRecord) return { ...rest, value: rdata, priority: null, readOnly: true };
    throw error;
  }
}
