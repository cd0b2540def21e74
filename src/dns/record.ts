import { type FieldError, fieldError, InvalidRecord } from '../platform/common/errors.js';
import { hostName, relativeName } from './names.js';
import { EXTRA_TYPES, isKnownType, RECORD_TYPES, RULES } from './rdata.js';
import { txtFromPresentation, txtShown } from './text.js';

export { EXTRA_TYPES, isKnownType, RECORD_TYPES, type RecordType } from './rdata.js';

/**
 * Kept by the name server itself or derived by its signer: never shown, never written. ZONEMD is none of them: it may
 * be made by the server or by whoever publishes the zone, and is shown read-only.
 */
export const MANAGED_TYPES: ReadonlySet<string> = new Set(['SOA', 'RRSIG', 'NSEC', 'NSEC3', 'NSEC3PARAM']);

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
  /** where the provider keeps remarks */
  remark?: string;
}

/** What makes two records the same one: host, type, value, line, and the priority of MX and SRV. */
type Identity = Pick<DnsRecord, 'host' | 'type' | 'value' | 'line' | 'priority'>;

export const sameRecord = (a: Identity, b: Identity): boolean =>
  a.host === b.host && a.type === b.type && a.value === b.value && a.line === b.line && a.priority === b.priority;

/** Equal for what `sameRecord` calls the same one. */
export const recordKey = ({ host, type, value, line, priority }: Identity): string =>
  JSON.stringify([host, type, value, line, priority]);

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
 * The canonical form of a record of the zone `zone`, and everything that is wrong with it, one entry a field: where a
 * field is wrong the record has something in its place, and is not to be used. All input of clients passes through
 * here.
 * @param kept what is stored and was not changed: taken as it is, since providers hold things that nobody could enter
 */
export function readRecord(
  input: LooseRecord,
  zone: string,
  kept: Partial<Pick<DnsRecord, 'host' | 'value' | 'ttl'>> = {},
): { record: DnsRecord; mistakes: FieldError[] } {
  const mistakes: FieldError[] = [];
  const read = <T>(otherwise: T, body: () => T): T => {
    try {
      return body();
    } catch (error) {
      if (!(error instanceof InvalidRecord)) throw error;
      mistakes.push(...error.mistakes);
      return otherwise;
    }
  };
  const type = input.type.toUpperCase();
  const host = kept.host ?? read('', () => hostName(input.host, zone));
  if (!isKnownType(type)) {
    const values = [...RECORD_TYPES, ...EXTRA_TYPES];
    mistakes.push(fieldError('type', `must be one of ${values.join(', ')}`, 'choice', { values }));
  }
  const ttl = kept.ttl ?? read(0, () => whole('ttl', input.ttl ?? DEFAULT_TTL, 1, MAX_TTL, ' of seconds'));
  const given = type === 'MX' || type === 'SRV' ? (input.priority ?? null) : null;
  const priority = given === null ? null : read(null, () => whole('priority', given, 0, 65535));
  const fields =
    kept.value === undefined && isKnownType(type)
      ? read({ value: '', priority }, () => RULES[type].parse(input.value, priority, zone))
      : { value: kept.value ?? '', priority };
  const record = {
    host,
    type,
    ...fields,
    ttl,
    weight: input.weight ?? null,
    line: input.line || 'default',
    proxied: input.proxied ?? false,
    enabled: input.enabled ?? true,
  };
  return { record, mistakes };
}

function whole(path: string, number: number, min: number, max: number, unit = ''): number {
  if (Number.isInteger(number) && number >= min && number <= max) return number;
  throw new InvalidRecord(path, `must be a whole number${unit} from ${min} to ${max}`, 'range', { min, max });
}

/**
 * The canonical form of a record.
 * @throws InvalidRecord naming every field that is wrong, in words that a user understands
 */
export function dnsRecord(input: LooseRecord, zone: string): DnsRecord {
  const { record, mistakes } = readRecord(input, zone);
  if (mistakes.length) throw new InvalidRecord(mistakes);
  return record;
}

/**
 * A stored value as the API shows it. Sent back it is read as what is stored; only a text that is itself well-formed
 * quoted strings needs other words for that.
 */
export const shownValue = ({ type, value }: Pick<DnsRecord, 'type' | 'value'>, readOnly = false): string =>
  type === 'TXT' && !readOnly ? txtShown(value) : value;

/**
 * The rdata of a canonical record in presentation form (RFC 1035), names absolute with final dot, TXT quoted and split.
 */
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
 * A record from rdata in presentation form, as name servers and zone files hold it. Never throws: what the service
 * cannot express is returned read-only with its rdata as value.
 * @param name absolute owner name, final dot optional
 * @returns the record, enabled, and what is wrong with the rdata of a type that is known; null for names outside the
 * zone and for types that the server manages itself (SOA, RRSIG …)
 */
export function readRdata(
  name: string,
  type: string,
  rdata: string,
  ttl: number,
  zone: string,
): { record: Omit<RemoteRecord, 'remoteId'>; mistakes: FieldError[] } | null {
  const host = relativeName(name, zone);
  if (host === null || MANAGED_TYPES.has(type)) return null;
  const rest = { host, type, ttl, weight: null, line: 'default', proxied: false, enabled: true };
  const asItIs = { ...rest, value: rdata, priority: null, readOnly: true };
  if (!isKnownType(type)) return { record: asItIs, mistakes: [] };
  try {
    const fields = type === 'TXT' ? txtFields(rdata) : RULES[type].parse(rdata, null, zone);
    return { record: { ...rest, ...fields, readOnly: false }, mistakes: [] };
  } catch (error) {
    if (error instanceof InvalidRecord) return { record: asItIs, mistakes: error.mistakes };
    throw error;
  }
}

function txtFields(rdata: string): Pick<DnsRecord, 'value' | 'priority'> {
  const value = txtFromPresentation(rdata);
  // not every database holds a NUL
  if (value === null || value.includes('\0')) throw new InvalidRecord('value', 'is not UTF-8 text without NUL');
  return { value, priority: null };
}

/** The record alone of `readRdata`. */
export const fromRdata = (
  ...of: [name: string, type: string, rdata: string, ttl: number, zone: string]
): Omit<RemoteRecord, 'remoteId'> | null => readRdata(...of)?.record ?? null;
