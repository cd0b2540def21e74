import type { RecordInput } from '../changes/edits/record.dto.js';
import { relativeName } from '../dns/names.js';
import type { DnsRecord, RemoteRecord } from '../dns/record.js';
import type { FieldCode, FieldError } from '../platform/common/words/codes.js';
import type { FieldText } from '../platform/common/words/field-text.js';

/** Formats that are read. */
export const DOCUMENT_FORMATS = ['zonefile', 'csv', 'json', 'octodns'] as const;
export type DocumentFormat = (typeof DOCUMENT_FORMATS)[number];

/** Formats that are written. */
export const EXPORT_FORMATS = [...DOCUMENT_FORMATS, 'dnscontrol', 'terraform'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** A record that a document has. */
export interface DocumentRecord {
  /** Number of its first line, from 1. */
  at: number;
  /** Canonical, with the defaults of what the document does not say. */
  record: DnsRecord;
  /**
   * The same as a body of `POST …/records`, with those fields only of which the document says something: what a format
   * cannot hold is not to be changed by it.
   */
  input: RecordInput;
  /**
   * It cannot be made: of a type that the service does not write, or marked `read_only` as exports do. It stands as it
   * was given, and only says that such a record is to stay.
   */
  readOnly: boolean;
  /** Its document says so itself. */
  marked: boolean;
  /** The zone has it as it is here, also where it could not be made: see `KnownRecord`. */
  isStored: boolean;
}

/** A record of the zone. A document may repeat it unchanged, even if the API would not accept it as a new record. */
export interface KnownRecord extends DnsRecord {
  read_only: boolean;
}

/** A kind of warning that is counted. */
export type NoteKey = keyof typeof NOTES;
/** Warning texts by note; `n` is the number of occurrences. */
export const NOTES = {
  ignored: (n: number) => `${n} record sets are left as they are: octodns.ignored`,
  spf: (n: number) => `${n} records of the type SPF (99) are read as TXT (RFC 7208)`,
  proxied: (n: number) => `${n} records are proxied by Cloudflare (cf-proxied:true), and are not here`,
  automatic: (n: number) => `${n} records have the automatic TTL of Cloudflare, 1, and get one of their own`,
  elsewhere: (n: number) => `${n} lines of the cache, or of other zones, of a name server are left out`,
} as const;

/** A mistake in a document. */
export interface DocumentError extends FieldError {
  path: 'document';
  /** From 1; column in UTF-16 units. */
  line: number;
  column?: number;
}

/** What was read. With errors, it must not be used for anything. */
export interface ParsedDocument {
  records: DocumentRecord[];
  errors: DocumentError[];
  /** Lines with the SOA, and with records that signers maintain, which are left aside. */
  leftAside: { line: number; type: string }[];
  /** What counts for a warning, with its first line. */
  notes: { line: number; key: NoteKey; count: number }[];
  /** Record sets that are not looked at, and stay as they are. */
  ignored: { host: string; type: string }[];
  /** Lines that say what an earlier one has said already; `otherTtl`: but for the TTL, which a set has just once. */
  repeated: { line: number; first: number; otherTtl: boolean }[];
}

export interface Place {
  line: number;
  column?: number | undefined;
}

/** A record as a format has it: the fields of a body of `POST …/records`, not validated yet. */
interface Given extends Place {
  input: Record<string, unknown>;
  /** Mistakes; ignored if the zone already has the record. */
  wrong?: readonly Mistake[];
  /** The record is from an export of Cloudflare. */
  isCloudflare?: boolean;
}

export interface Mistake extends Place {
  message: FieldText;
  code?: FieldCode;
  params?: FieldError['params'];
}

/** What a reader of a format finds; null: nothing yet, so that the caller may yield to the event loop. */
export type Found =
  | Given
  | Mistake
  | { line: number; leftAside: string }
  | { line: number; note: NoteKey; set?: { host: string; type: string } }
  | null;

/** A reader of a format. @param ttl seconds, of records that name none */
export type Reader = (text: string, zone: string, ttl: number) => Generator<Found>;

/** A record to be written. */
export type PrintedRecord = Omit<DnsRecord, 'extra' | 'remark'> & Pick<RemoteRecord, 'readOnly'> & { remark: string };

/** The text of one document, in parts. */
export interface Printing {
  head: string;
  /** @param records all records of one or more hosts, hosts in a row */
  records(records: readonly PrintedRecord[]): Iterable<string>;
  tail(): string;
}

/** A writer of a format. */
export interface Printer {
  contentType: string;
  extension: string;
  print(zone: string): Printing;
}

/** A host as input takes it: a relative name that ends with the name of the zone is written in full. */
export const inputHost = (host: string, zone: string): string =>
  relativeName(host, zone) === null ? host : `${host}.${zone}.`;

/** Lines and columns of offsets in a text, which are asked for in their order. */
export class Lines {
  private line = 1;
  private start = 0;
  /** Of the line; infinite for the last one. */
  private end: number;

  constructor(private readonly text: string) {
    this.end = this.next(0);
  }

  at(offset: number): { line: number; column: number } {
    while (this.end < offset) {
      this.line++;
      this.start = this.end + 1;
      this.end = this.next(this.start);
    }
    return { line: this.line, column: offset - this.start + 1 };
  }

  private next(from: number): number {
    const end = this.text.indexOf('\n', from);
    return end < 0 ? Number.POSITIVE_INFINITY : end;
  }
}
