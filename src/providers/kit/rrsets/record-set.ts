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
  /** what the vendor wants back with this value, and nobody else understands: its comment, its weight */
  raw?: unknown;
}

/** All values of one key. An empty `members` means: the set shall not exist. The TTL belongs to the set. */
export interface RecordSet extends SetKey {
  /** seconds */
  ttl: number;
  members: SetMember[];
  /** what the vendor wants back with the set as it was read: an id, an entity tag, fields that nobody else knows */
  raw?: unknown;
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
