import { type DnsRecord, rdataOf } from '../../dns/record.js';
import { errors } from '../../platform/common/errors.js';
import { due, turn } from '../../platform/common/turns.js';

/** The types that ExternalDNS knows. */
export const TYPES: ReadonlySet<string> = new Set([
  ...['A', 'AAAA', 'CNAME', 'TXT', 'SRV', 'NS', 'PTR', 'MX', 'NAPTR', 'DNAME'],
]);

/** One name and type with its targets. */
export interface Endpoint {
  dnsName: string;
  targets: string[];
  recordType: string;
  /** seconds; left out or 0: the client does not care */
  recordTTL?: number;
  setIdentifier?: string;
}

/** An endpoint of a request, and where it stands there. */
export interface Named extends Endpoint {
  path: string;
}

/** What a client wants to have changed: what goes, and what shall be there. */
export interface Wanted {
  gone: Named[];
  made: Named[];
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** @throws AppError 400001 */
export function listOf(value: unknown, path: string): Record<string, unknown>[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || !value.every(isObject)) throw errors.field(path, 'must be a list of objects');
  return value;
}

/** @throws AppError 400001 naming the field that is none */
export function endpointOf(one: Record<string, unknown>, path: string): Named {
  const { dnsName, targets, recordType, recordTTL, setIdentifier } = one;
  const wrong = (field: string) => errors.field(`${path}.${field}`, 'is missing, or of another type');
  if (typeof dnsName !== 'string' || !dnsName || dnsName.length > 1100) throw wrong('dnsName');
  if (typeof recordType !== 'string' || recordType.length > 16) throw wrong('recordType');
  const isText = (target: unknown) => typeof target === 'string' && target.length <= 262_144;
  if (!Array.isArray(targets) || !targets.length || targets.length > 1000 || !targets.every(isText))
    throw wrong('targets');
  if ((recordTTL ?? null) !== null && (!Number.isInteger(recordTTL) || (recordTTL as number) < 0))
    throw wrong('recordTTL');
  if ((setIdentifier ?? '') !== '') throw errors.field(`${path}.setIdentifier`, 'is not taken: sets have no policies');
  return { dnsName, targets, recordType, path, ...(recordTTL ? { recordTTL: recordTTL as number } : {}) };
}

/** The four lists of a request; older clients begin their names with a capital. @throws AppError 400001 */
export async function wantedOf(body: unknown): Promise<Wanted> {
  if (!isObject(body)) throw errors.field('body', 'must be a JSON object');
  const read = async (...names: string[]): Promise<Named[]> => {
    const list: Named[] = [];
    for (const name of names) {
      const key = Object.keys(body).find((one) => one.toLowerCase() === name.toLowerCase()) ?? name;
      for (const [i, one] of listOf(body[key], key).entries()) {
        if (due()) await turn();
        list.push(endpointOf(one, `${key}.${i}`));
      }
    }
    return list;
  };
  return { made: await read('create', 'updateNew'), gone: await read('updateOld', 'delete') };
}

/** The text by which ExternalDNS knows what it has made. */
const HERITAGE = /^"?heritage=/;

/**
 * A record as a target: what was asked comes back as it was. A text is one string in quotes, however long, since
 * clients cut just the outer ones off.
 */
export function targetOf(record: Pick<DnsRecord, 'type' | 'value' | 'priority'>): string {
  const { type, value, priority } = record;
  if (type === 'TXT') return `"${value.replace(/["\\]/g, '\\$&')}"`;
  if (type === 'SRV' || type === 'NAPTR') return rdataOf(record);
  return type === 'MX' && priority !== null ? `${priority} ${value}` : value;
}

/** Targets in their order; clients look for the owner in the first one only. */
export const inOrder = (targets: readonly string[]): string[] => {
  const unique = [...new Set(targets)];
  return [...unique.filter((one) => HERITAGE.test(one)), ...unique.filter((one) => !HERITAGE.test(one))];
};
