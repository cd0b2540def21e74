import { type DnsRecord, rdataOf, shownValue } from '../dns/record.js';
import { typeName, typeNumber } from '../dns/types.js';
import { rdataToWire } from '../dns/wire-rdata.js';
import type { DocumentRecord, KnownRecord } from './document.js';

/** What a document says of records that the zone has already. */

/** The type of an input by its name, also where it was given as `TYPE1`. */
export function typeNameOf({ type }: Record<string, unknown>): string {
  const name = typeof type === 'string' ? type.toUpperCase() : '';
  return /^TYPE\d{1,5}$/.test(name) && Number(name.slice(4)) <= 65_535 ? typeName(Number(name.slice(4))) : name;
}

export const setKey = (host: string, type: string): string => JSON.stringify([host, type]);

export function bySet(known: readonly KnownRecord[]): ReadonlyMap<string, KnownRecord[]> {
  const sets = new Map<string, KnownRecord[]>();
  for (const one of known) {
    const key = setKey(one.host, typeNameOf({ type: one.type }));
    const set = sets.get(key);
    if (set) set.push(one);
    else sets.set(key, [one]);
  }
  return sets;
}

/** The same for the same data, however they are written. */
export function dataOf(type: string, rdata: string): string {
  try {
    return JSON.stringify([typeNumber(type), rdataToWire(type, rdata).toString('hex')]);
  } catch (error) {
    // no type of DNS, or data whose wire form is not known
    if (error instanceof RangeError) return JSON.stringify([type, rdata.trim().split(/\s+/)]);
    throw error;
  }
}

const FIELDS = ['ttl', 'priority', 'weight', 'line', 'proxied', 'enabled', 'remark'] as const;

/** Whether an input of its host and type names a record of the zone, and nothing else of it than it has. */
export function isUnchanged(known: KnownRecord, input: Record<string, unknown>): boolean {
  const { value, mx, priority = mx } = input;
  if (typeof value !== 'string') return false;
  const given: Record<string, unknown> = { ...input, priority };
  const isSame = FIELDS.every((field) => (given[field] ?? null) === null || given[field] === (known[field] ?? null));
  return isSame && (given.expires_at ?? null) === null && hasData(known, value, priority);
}

function hasData(known: KnownRecord, value: string, priority: unknown): boolean {
  const { type, read_only: isFixed } = known;
  if (value === known.value || value === shownValue(known, isFixed)) return true;
  const rdata = isFixed ? known.value : rdataOf(known);
  const given = (priority ?? null) === null ? value : `${priority} ${value}`;
  return given === rdata || dataOf(type, given) === dataOf(type, rdata);
}

/** A record of the zone as one that a document has. */
export function asStored(known: KnownRecord, input: Record<string, unknown>, at: number): DocumentRecord {
  const { host, type, value, ttl, priority, weight, line, proxied, enabled } = known;
  const record: DnsRecord = { host, type, value, ttl, priority, weight, line, proxied, enabled };
  const given = { host: String(input.host ?? input.name), type, value: shownValue(known, known.read_only) };
  return { at, record, input: given, readOnly: known.read_only, marked: false, isStored: true };
}
