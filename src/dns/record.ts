import { fieldError, InvalidRecord } from '../platform/common/errors.js';
import { type FieldError } from '../platform/common/words/codes.js';
import { type FieldText, say } from '../platform/common/words/field-text.js';
import { assertLoadable, assertNoUrl, fullName, hostName, relativeName } from './names.js';
import { EXTRA_TYPES, isKnownType, RECORD_TYPES, type RecordType, RULES } from './rdata.js';
import { assertStraightQuotes, txtFromPresentation, txtShown } from './text.js';
import { loadableValue } from './value-limits.js';

export { EXTRA_TYPES, isKnownType, RECORD_TYPES, type RecordType } from './rdata.js';

/**
 * Types maintained by the name server or its signer: never shown, never written. ZONEMD is not included: the server or
 * the publisher of the zone may create it, and it is shown read-only.
 */
export const MANAGED_TYPES: ReadonlySet<string> = new Set(['SOA', 'RRSIG', 'NSEC', 'NSEC3', 'NSEC3PARAM']);

/** Types that signers maintain in a zone. BIND keeps the state of its keys in TYPE65534. */
export const SIGNER_TYPES: ReadonlySet<string> = new Set([
  ...['CDS', 'CDNSKEY', 'ZONEMD', 'DNSKEY', 'RRSIG', 'NSEC', 'NSEC3', 'NSEC3PARAM', 'TYPE65534'],
]);

export const DEFAULT_TTL = 600;
export const MAX_TTL = 2147483647;

/**
 * One record in the canonical form that the whole service compares, stores and shows.
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
  /** `@`, `www`, `*.a`, `_dmarc`: relative to the zone, lower case, A-labels. */
  host: string;
  type: string;
  value: string;
  /** seconds */
  ttl: number;
  priority: number | null;
  weight: number | null;
  /** Routing line of providers that support them, otherwise `default`. */
  line: string;
  proxied: boolean;
  enabled: boolean;
  /** For providers that store remarks. */
  remark?: string;
  /** What else the provider holds of it, in its own form: sent when the record is made anew, never shown. */
  extra?: string | null;
}

/** The fields that identify a record: host, type, value, line, and the priority of MX and SRV. */
type Identity = Pick<DnsRecord, 'host' | 'type' | 'value' | 'line' | 'priority'>;

export const sameRecord = (a: Identity, b: Identity): boolean =>
  a.host === b.host && a.type === b.type && a.value === b.value && a.line === b.line && a.priority === b.priority;

/** Equal for two records exactly when `sameRecord` is true. */
export const recordKey = ({ host, type, value, line, priority }: Identity): string =>
  JSON.stringify([host, type, value, line, priority]);

/** Record input of a client; omitted fields get the defaults of the specification. */
export interface LooseRecord {
  host: string;
  type: string;
  value: string;
  ttl?: number | null | undefined;
  priority?: number | null | undefined;
  weight?: number | null | undefined;
  line?: string | null | undefined;
  proxied?: boolean | null | undefined;
  enabled?: boolean | undefined;
}

/** Types that give a name the records of another name. */
const ALIASING: ReadonlySet<string> = new Set(['CNAME', 'ALIAS', 'DNAME']);
/** Word positions of names in a value, by type; negative: from the end. */
const NAMES_AT: Readonly<Record<string, readonly number[]>> = {
  ...{ CNAME: [0], ALIAS: [0], DNAME: [0], PTR: [0], SVCB: [1], HTTPS: [1], NAPTR: [-1], RP: [0, 1] },
};
/** Types whose value names a host, and where a URL is a mistake. */
const POINTING: ReadonlySet<string> = new Set(['CNAME', 'ALIAS', 'DNAME', 'MX', 'NS', 'PTR', 'SRV']);

/**
 * The canonical form of a record of the zone `zone`, and all its errors, one per field: an invalid field gets a
 * placeholder, and the record must not be used. All client input is validated here.
 * @param kept the stored record: unchanged fields are not validated, since providers hold values that could not be
 *   entered
 */
export function readRecord(
  input: LooseRecord,
  zone: string,
  kept: Partial<
    Record<'host' | 'value', string | undefined> & Record<'ttl' | 'priority', number | null | undefined>
  > = {},
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
    mistakes.push(
      fieldError('type', say('must be one of {values}', { values: values.join(', ') }), 'choice', { values }),
    );
  }
  const ttl =
    kept.ttl ??
    read(0, () =>
      whole('ttl', input.ttl ?? DEFAULT_TTL, 0, MAX_TTL, 'must be a whole number of seconds from {min} to {max}'),
    );
  const given = type === 'MX' || type === 'SRV' ? (input.priority ?? null) : null;
  const priority = given === null ? null : read(null, () => whole('priority', given, 0, 65535));
  const fields =
    kept.value === undefined && isKnownType(type)
      ? read({ value: '', priority }, () => parsedValue(type, input.value, priority, zone))
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
  mistakes.push(...misplaced(record, zone, given, kept));
  return { record, mistakes };
}

/** The canonical form of a value from a client. @throws InvalidRecord */
function parsedValue(type: RecordType, value: string, priority: number | null, zone: string) {
  if (POINTING.has(type)) assertNoUrl(value);
  assertStraightQuotes(type, value);
  const read = RULES[type].parse(value, priority, zone);
  const fields = { ...read, value: loadableValue(type, read.value) };
  const words = fields.value.split(' ');
  for (const at of NAMES_AT[type] ?? []) assertLoadable((words.at(at) as string).replaceAll('\\.', '-'));
  return fields;
}

/** Mistakes of a record whose fields are valid. @param given priority from its own field; null: none */
function misplaced(
  { host, type, value, priority }: DnsRecord,
  zone: string,
  given: number | null,
  kept: NonNullable<Parameters<typeof readRecord>[2]>,
): FieldError[] {
  const isHeld = kept.value !== undefined;
  if (isHeld && kept.host !== undefined && (kept.priority ?? priority) === priority) return [];
  const wrong: [boolean, string, FieldText][] = [
    [type === 'DS' && host === '@', 'host', 'must not be the apex: the DS records of a zone are in its parent zone'],
    [
      (type === 'NS' || type === 'DS') && host.startsWith('*'),
      'host',
      'must not be a wildcard: a wildcard is not a delegation (RFC 4592)',
    ],
    [ALIASING.has(type) && value === fullName(host, zone), 'value', 'must not be the name of the record itself'],
    [
      type === 'MX' && value === '.' && priority !== 0,
      given === null ? 'value' : 'priority',
      'must be 0 for the mail host "." (null MX, RFC 7505)',
    ],
  ];
  return wrong.flatMap(([is, path, message]) => (is ? [fieldError(path, message, 'conflict')] : []));
}

function whole(
  path: string,
  number: number,
  min: number,
  max: number,
  words:
    | 'must be a whole number from {min} to {max}'
    | 'must be a whole number of seconds from {min} to {max}' = 'must be a whole number from {min} to {max}',
): number {
  if (Number.isInteger(number) && number >= min && number <= max) return number;
  throw new InvalidRecord(path, say(words, { min, max }), 'range', { min, max });
}

/**
 * The canonical form of a record.
 * @throws InvalidRecord naming every invalid field, with messages for users
 */
export function dnsRecord(input: LooseRecord, zone: string): DnsRecord {
  const { record, mistakes } = readRecord(input, zone);
  if (mistakes.length) throw new InvalidRecord(mistakes);
  return record;
}

/**
 * A stored value as shown in the API. Sent back unchanged, it is parsed to the stored value; only a text that itself
 * looks like quoted strings is shown in presentation form for that.
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
  /** The provider's id, or one derived from the content if the provider has none (see `providers/rrset.ts`). */
  remoteId: string;
  /** true when the service cannot edit it: an unknown type, or content it cannot represent. */
  readOnly: boolean;
  /** of one that is read-only: why, where something is known of it */
  readOnlyReason?: string;
}

/** characters of a record's texts that are kept, the same on every database: the columns of `dns_records` have them */
export const ROOM = { remoteId: 255, host: 253, type: 16, line: 64, remark: 255, reason: 255 } as const;
/** bytes of a value that every database keeps */
export const MAX_BYTES = 65_535;
/** bytes of what else is held of a record, as a text in JSON: states are kept in one column, but for the value */
export const MAX_EXTRA_BYTES = 56_000;

/**
 * A record from rdata in presentation form, as in name servers and zone files. Never throws: what the service cannot
 * represent is returned read-only with its rdata as value.
 * @param name absolute owner name, final dot optional
 * @returns the record, enabled, and the errors in the rdata of a known type; null for names outside the zone and for
 *   types that the server maintains itself (SOA, RRSIG …)
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
  const asItIs = (readOnlyReason: string) => ({
    ...rest,
    value: rdata,
    priority: null,
    readOnly: true,
    readOnlyReason,
  });
  if (!isKnownType(type)) return { record: asItIs(`It is of type ${type}, which is not edited here`), mistakes: [] };
  try {
    const fields = type === 'TXT' ? txtFields(rdata) : RULES[type].parse(rdata, null, zone);
    return { record: { ...rest, ...fields, readOnly: false }, mistakes: [] };
  } catch (error) {
    if (!(error instanceof InvalidRecord)) throw error;
    const { mistakes } = error;
    return {
      record: asItIs(`It has a content that is not understood: ${mistakes[0]?.message ?? 'another form'}`),
      mistakes,
    };
  }
}

function txtFields(rdata: string): Pick<DnsRecord, 'value' | 'priority'> {
  const value = txtFromPresentation(rdata);
  // not every database can store a NUL
  if (value === null || value.includes('\0')) throw new InvalidRecord('value', 'is not UTF-8 text without NUL');
  return { value, priority: null };
}

/** Only the record of `readRdata`. */
export const fromRdata = (
  ...of: [name: string, type: string, rdata: string, ttl: number, zone: string]
): Omit<RemoteRecord, 'remoteId'> | null => readRdata(...of)?.record ?? null;
