import type { DnsRecord } from '../../../dns/record.js';
import { sha256 } from '../../../platform/common/hash.js';

/** Which set: a name, a type, and the routing line where the vendor has such. */
export interface SetKey {
  /** relative to the zone, `@` for the apex */
  host: string;
  type: string;
  /** left out: `default` */
  line?: string;
}

/**
 * One value of a record set. `rdata` is the provider's own text of it, so that siblings are written back as they were
 * read.
 */
export interface SetMember {
  remoteId: string;
  rdata: string;
  enabled: boolean;
  /** seconds, where each value may have its own, and this one is not that of the set */
  ttl?: number;
  /** what the vendor wants back with this value, and nobody else understands: its comment, its weight */
  raw?: unknown;
  /** the part of `raw` that stays with the record wherever it goes (see `DnsRecord.extra`) */
  extra?: object;
}

/** All values of one key. An empty `members` means: the set shall not exist. The TTL belongs to the set. */
export interface RecordSet extends SetKey {
  /** seconds */
  ttl: number;
  members: SetMember[];
  /** why nothing of it is written, in words that begin with "It": a part of it would not survive that */
  readOnly?: string;
  /** what the vendor wants back with the set as it was read: an id, an entity tag, fields that nobody else knows */
  raw?: unknown;
  /** the part of `raw` that stays with its records wherever they go: the `raw` of a set that is made anew */
  extra?: object;
}

/** The fields of which something is said; undefined: of none. */
export function filled(fields: object = {}): object | undefined {
  const isEmpty = (part: unknown) => (typeof part === 'object' ? Object.keys(part ?? {}).length === 0 : part === '');
  const all = Object.entries(fields).filter(([, part]) => part !== undefined && !isEmpty(part));
  return all.length ? Object.fromEntries(all) : undefined;
}

/** Under which name the fields of a set stand beside those of the value. */
const OF_SET = '@set';

/** The fields of a value and of its set, as they stay with the record (see `DnsRecord.extra`). */
export const extraText = (value: object | undefined, set?: object): string | undefined =>
  value || set ? JSON.stringify({ ...value, ...(set && { [OF_SET]: set }) }) : undefined;

/** The same fields, of a text. */
export function extrasOf(text: string | null | undefined): { value?: object; set?: object } {
  try {
    const { [OF_SET]: set, ...value } = JSON.parse(text ?? '{}') as Record<string, object>;
    return { ...(Object.keys(value).length && { value }), ...(set && { set }) };
  } catch {
    return {};
  }
}

/** A set as it shall be, and as it was read. */
export interface SetWrite {
  set: RecordSet;
  was: RecordSet;
}

/**
 * Id of a record at a vendor without record ids: derived from type, host, line and canonical value, so it is the same
 * at every sync.
 */
export const derivedId = ({
  type,
  host,
  value,
  priority,
  line = 'default',
}: Pick<DnsRecord, 'type' | 'host' | 'value' | 'priority'> & { line?: string }): string => {
  // ids from before there were lines stay
  const parts = [type, host, priority ?? '', value, ...(line === 'default' ? [] : [line])];
  return `rr-${sha256(parts.join('\0')).slice(0, 40)}`;
};

export const keyText = ({ host, type, line = 'default' }: SetKey): string => `${type} ${host} ${line}`;
