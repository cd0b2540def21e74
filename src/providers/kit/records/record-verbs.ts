import type { DnsRecord, RemoteRecord } from '../../../dns/record.js';
import type { Change, RemoteZone } from '../../provider.js';
import type { ProviderError } from '../http/errors.js';

/** Fields of a record that an update changes. */
export type Difference = ReadonlySet<keyof DnsRecord>;

/** What a write answers: the record's id from now on (some vendors change it), or the record as it is now. */
export type Written = string | RemoteRecord;

/** The verbs of a vendor whose records have ids of their own. */
export interface RecordVerbs {
  /** @throws ProviderError */
  createRecord(zone: RemoteZone, record: DnsRecord): Promise<Written>;
  /**
   * Where the API takes a part of a record, only the fields in `difference` are sent: the others may have been changed
   * at the provider. @throws ProviderError `not_found` when there is no such record
   */
  updateRecord(zone: RemoteZone, before: RemoteRecord, after: DnsRecord, difference: Difference): Promise<Written>;
  /** @throws ProviderError `not_found` when it is gone, which is a success */
  deleteRecord(zone: RemoteZone, before: RemoteRecord): Promise<unknown>;
  /**
   * One record by its id; null, or `not_found`, when it is gone. For changes that are guarded.
   * @throws ProviderError
   */
  readRecord?(zone: RemoteZone, before: RemoteRecord): Promise<RemoteRecord | null>;
  /** Records of a name and type, and maybe others. For what exists already. @throws ProviderError */
  findRecords?(zone: RemoteZone, wanted: DnsRecord): Promise<RemoteRecord[]>;
  /**
   * Several changes in one call that is carried out whole or not at all: what each wrote, in their order, null of a
   * deletion. Where it refuses, they are tried one by one, so that the refused one does not take the others with it.
   * @throws ProviderError
   */
  batch?(zone: RemoteZone, changes: readonly Change[]): Promise<readonly (Written | null)[]>;
  /**
   * An update replaces the whole record, or `updateRecord` sends more than `difference`: the record is read before, and
   * what is not changed stays as the vendor has it; what `turn` and `note` write replaces nothing.
   */
  whole?: boolean;
  /** of `whole`: what `updateRecord` writes by a call of its own when nothing else changes */
  apart?: readonly (keyof DnsRecord)[];
  /** All records of the zone, for several that are read at once. @throws ProviderError */
  listAll?(zone: RemoteZone): Promise<RemoteRecord[]>;
  /** whether a refused creation means that the record exists; left out: each may, of those that were sent */
  isDuplicate?(error: ProviderError): boolean;
  /** Throws for what the vendor cannot hold, before anything is sent, or goes to make room for it: best `NotBegun`. */
  judge?(record: DnsRecord): void;
  /** what an update cannot change: another record takes the place (see `inPlace`) */
  fixed?: readonly (keyof DnsRecord)[];
  /** refusals do not tell what is wrong: by `readRecord` it is seen whether the record is gone (see `orGone`) */
  vague?: boolean;
  /**
   * it would take an identical record once more: it is looked for, by `findRecords`, before one is created; `'TXT'`: a
   * text that it holds in another form; `'moved'`: it would answer that one, which is looked for where another record
   * shall take its place
   */
  doubles?: boolean | 'TXT' | 'moved';
  /** Switches a record by a call of its own: `createRecord` makes it enabled, `updateRecord` leaves that alone. */
  turn?(zone: RemoteZone, id: string, enabled: boolean): Promise<unknown>;
  /** Writes the remark by a call of its own; `createRecord` and `updateRecord` leave it alone. */
  note?(zone: RemoteZone, id: string, remark: string): Promise<unknown>;
}

const FIELDS = ['host', 'type', 'value', 'ttl', 'priority', 'weight', 'line', 'proxied', 'enabled'] as const;

/** In what two states of a record differ; proxied ones have no TTL of their own, and not every vendor keeps remarks. */
export function difference(a: DnsRecord, b: DnsRecord): Set<keyof DnsRecord> {
  const all = new Set<keyof DnsRecord>(FIELDS.filter((field) => a[field] !== b[field]));
  if (a.proxied && b.proxied) all.delete('ttl');
  if (a.remark !== undefined && b.remark !== undefined && a.remark !== b.remark) all.add('remark');
  return all;
}

/**
 * The part of a vendor's record that has to be sent when some fields change, for APIs that keep what is left out.
 * @param sources of which fields each of the vendor's follows; those that are not named hold the value
 */
export const changedPart = (
  whole: object,
  changed: Difference,
  sources: Record<string, readonly (keyof DnsRecord)[]>,
) =>
  Object.fromEntries(
    Object.entries(whole).filter(([key]) =>
      (sources[key] ?? ['value', 'priority']).some((field) => changed.has(field)),
    ),
  );

/** Verbs that call each other: those of one record, all of them there. */
export type AllRecordVerbs = Required<
  Pick<RecordVerbs, 'createRecord' | 'updateRecord' | 'deleteRecord' | 'readRecord' | 'findRecords'>
>;
