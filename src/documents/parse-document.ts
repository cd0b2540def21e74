import { isDeepStrictEqual } from 'node:util';
import { HOST_MISSING, RecordInput, RecordPatch } from '../changes/edits/record.dto.js';
import { newRecord } from '../changes/edits/record-rules.js';
import { relativeName } from '../dns/names.js';
import { DEFAULT_TTL, type DnsRecord, isKnownType, readRecord, recordKey, shownValue } from '../dns/record.js';
import { isType } from '../dns/types.js';
import { fieldErrorsOf, InvalidRecord } from '../platform/common/errors.js';
import { due, turn } from '../platform/common/turns.js';
import { validationPipe } from '../platform/common/validation.js';
import type { FieldError } from '../platform/common/words/codes.js';
import { type FieldText, say } from '../platform/common/words/field-text.js';
import type { ProviderDefinition } from '../providers/provider.js';
import { readCsv } from './csv.js';
import {
  type DocumentError,
  type DocumentFormat,
  type DocumentRecord,
  type Found,
  inputHost,
  type Mistake,
  type ParsedDocument,
  type Place,
  type Reader,
} from './document.js';
import { readJson } from './json.js';
import { readZoneFile } from './zonefile.js';

/** Without octoDNS, whose reader of YAML is loaded when such a document comes. */
const READERS: Record<Exclude<DocumentFormat, 'octodns'>, Reader> = {
  zonefile: readZoneFile,
  csv: readCsv,
  json: readJson,
};

/** Mistakes after which nothing more is read, so that a document of nothing else is refused soon. */
const MAX_ERRORS = 500;

/**
 * Reads a document of the records of one zone. Everything that is wrong with it is told at once; it never throws for
 * what a text says. Whether the records go together, and with those that are there, is not judged. Large documents are
 * read in turns.
 * @param zone canonical, without final dot
 * @param options.provider what this provider cannot hold is a mistake, too, as of `POST …/records`
 * @param options.ttl seconds, of records that name none; default 600. octoDNS has a default of its own, 3600
 */
export async function parseDocument(
  format: DocumentFormat,
  text: string,
  zone: string,
  { provider, ttl = DEFAULT_TTL }: { provider?: ProviderDefinition; ttl?: number } = {},
): Promise<ParsedDocument> {
  const reading = new Reading(zone, ttl, provider);
  const read = format === 'octodns' ? (await import('./octodns.js')).readOctodns : READERS[format];
  for (const found of read(text.replace(/^\uFEFF/, ''), zone, ttl)) {
    if (due()) await turn();
    await reading.take(found);
    if (reading.isFull) break;
  }
  return reading.done();
}

class Reading {
  private readonly pipe = validationPipe();
  private readonly records: DocumentRecord[] = [];
  private readonly leftAside: ParsedDocument['leftAside'] = [];
  private readonly repeated: ParsedDocument['repeated'] = [];
  private readonly errors: DocumentError[] = [];
  private readonly known = new Map<string, DocumentRecord>();

  constructor(
    private readonly zone: string,
    private readonly ttl: number,
    private readonly provider: ProviderDefinition | undefined,
  ) {}

  async take(found: Found): Promise<void> {
    if (!found) return;
    if ('leftAside' in found) this.leftAside.push({ line: found.line, type: found.leftAside });
    else if ('message' in found) this.wrong(found);
    else await this.read(found.input, found);
  }

  get isFull(): boolean {
    return this.errors.length >= MAX_ERRORS;
  }

  done(): ParsedDocument {
    const { records, leftAside, errors, repeated, isFull } = this;
    errors.sort((a, b) => a.line - b.line);
    const line = errors.at(-1)?.line ?? 1;
    if (isFull) this.wrong({ line, message: say('after {max} mistakes, no more are looked for', { max: MAX_ERRORS }) });
    return { records, errors, leftAside, repeated };
  }

  private wrong(mistake: Mistake): void {
    this.errors.push(told(mistake));
  }

  private async read(input: Record<string, unknown>, at: { line: number; column?: number | undefined }): Promise<void> {
    const type = typeof input.type === 'string' ? input.type.toUpperCase() : '';
    const isKept = input.read_only === true || (isType(type) && !isKnownType(type));
    try {
      const shape = isKept ? RecordPatch : RecordInput;
      const body = (await this.pipe.transform(input, { type: 'body', metatype: shape as never })) as RecordInput;
      const record = isKept ? this.kept(body, input.read_only === true) : this.canonical(body);
      const shown = isKept ? record.value : shownValue(record);
      const given = said(body, { ...record, host: inputHost(record.host, this.zone), value: shown });
      this.add({ at: at.line, record, input: given, readOnly: isKept, marked: input.read_only === true });
    } catch (error) {
      for (const mistake of fieldErrorsOf(error)) this.errors.push(mistakeAt(at, mistake, input));
    }
  }

  /** @throws InvalidRecord */
  private canonical(body: RecordInput): DnsRecord {
    const { zone, ttl, provider } = this;
    if (provider) return newRecord(provider, zone, body, ttl);
    const host = body.host ?? body.name;
    if (host === undefined) throw new InvalidRecord([HOST_MISSING]);
    const loose = { ...body, host, ttl: body.ttl ?? ttl, priority: body.priority ?? body.mx };
    const { record, mistakes } = readRecord(loose, zone);
    if (mistakes.length) throw new InvalidRecord(mistakes);
    return record;
  }

  /** A record that cannot be made. @param asItIs whether its host, too, may be one that nobody can enter */
  private kept({ host, value, ...body }: RecordPatch, asItIs: boolean): DnsRecord {
    if (host === undefined) throw new InvalidRecord([HOST_MISSING]);
    if (!value) throw new InvalidRecord('value', 'must be given', 'required');
    const own = asItIs ? ((host.endsWith('.') ? relativeName(host, this.zone) : null) ?? host) : undefined;
    const loose = { ...body, host, value, type: 'A', ttl: body.ttl ?? this.ttl };
    const { record, mistakes } = readRecord(loose, this.zone, { value, host: own });
    if (mistakes.length) throw new InvalidRecord(mistakes);
    return { ...record, type: (body.type ?? '').toUpperCase(), priority: body.priority ?? null };
  }

  /** A record that is there twice is read once, as name servers do. */
  private add(one: DocumentRecord): void {
    const key = recordKey(one.record);
    const first = this.known.get(key);
    if (!first) {
      this.known.set(key, one);
      this.records.push(one);
      return;
    }
    const otherTtl = first.input.ttl !== one.input.ttl;
    const ttlCounts = this.provider?.capabilities.ttlOf !== 'set';
    const beside = ({ input }: DocumentRecord) => (ttlCounts ? input : { ...input, ttl: 0 });
    if (!isDeepStrictEqual(beside(first), beside(one))) {
      const message = say('is in line {line} already, with other data beside it', { line: first.at });
      this.errors.push(mistakeAt({ line: one.at }, { message, code: 'duplicate', path: 'value' }, one.record));
    } else this.repeated.push({ line: one.at, first: first.at, otherTtl });
  }
}

const FIELDS = ['ttl', 'priority', 'weight', 'line', 'proxied', 'enabled', 'remark', 'expires_at'] as const;

/** The fields of a record that its document gives. */
function said(body: RecordInput, record: DnsRecord): RecordInput {
  const { host, type, value } = record;
  const all = { ...record, remark: body.remark, expires_at: body.expires_at };
  const given = FIELDS.filter((field) => {
    const one = body[field] ?? (field === 'priority' ? body.mx : null);
    return (one ?? null) !== null && (all[field] ?? null) !== null;
  });
  return { host, type, value, ...Object.fromEntries(given.map((field) => [field, all[field]])) } as RecordInput;
}

const told = ({ line, column, message, code = 'format', params }: Mistake): DocumentError => ({
  path: 'document',
  line,
  ...(column !== undefined && { column }),
  message,
  code,
  ...(params && { params }),
});

/** A wrong field of a record of a document. */
export function mistakeAt(at: Place, { path, message, code, params }: FieldError, of: object): DocumentError {
  const { host, name = '', type = '' } = of as Record<string, unknown>;
  const clip = (text: unknown) => (typeof text === 'string' ? text.slice(0, 100) : '');
  const place = [`${clip(host ?? name)} ${clip(type)}`.trim(), path].filter(Boolean).join(', ');
  return told({ ...at, message: say('in {place}: {rule}', { place, rule: message as FieldText }), code, params });
}
