import { isDeepStrictEqual } from 'node:util';
import { HOST_MISSING, RecordInput, RecordPatch } from '../changes/edits/record.dto.js';
import { newRecord } from '../changes/edits/record-rules.js';
import { hostName, relativeName } from '../dns/names.js';
import {
  DEFAULT_TTL,
  type DnsRecord,
  isKnownType,
  readRecord,
  recordKey,
  SIGNER_TYPES,
  shownValue,
} from '../dns/record.js';
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
  type KnownRecord,
  Lines,
  type Mistake,
  type NoteKey,
  type ParsedDocument,
  type Place,
  type Reader,
} from './document.js';
import { readJson } from './json.js';
import { asStored, bySet, isUnchanged, setKey, typeNameOf } from './known-records.js';
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
 * @param options.known records of the zone: one that a document has unchanged is no mistake
 */
export async function parseDocument(
  format: DocumentFormat,
  text: string,
  zone: string,
  { provider, ttl = DEFAULT_TTL, known = [] }: ReadOptions = {},
): Promise<ParsedDocument> {
  const reading = new Reading(zone, ttl, provider, known);
  const read = format === 'octodns' ? (await import('./octodns.js')).readOctodns : READERS[format];
  // a file of UTF-16 that was read as if it were of UTF-8
  const nul = text.indexOf('\0');
  if (nul >= 0) {
    await reading.take({ ...new Lines(text).at(nul), message: 'is UTF-16, or no text: save the file as UTF-8' });
    return reading.done();
  }
  for (const found of read(text.replace(/^\uFEFF/, ''), zone, ttl)) {
    if (due()) await turn();
    await reading.take(found);
    if (reading.isFull) break;
  }
  return reading.done();
}

interface ReadOptions {
  provider?: ProviderDefinition | undefined;
  ttl?: number;
  known?: readonly KnownRecord[];
}

/** The automatic TTL in exports of Cloudflare, and the seconds that it answers then. */
const AUTOMATIC = 1;
const AUTOMATIC_S = 300;

class Reading {
  private readonly pipe = validationPipe();
  private readonly records: DocumentRecord[] = [];
  private readonly leftAside: ParsedDocument['leftAside'] = [];
  private readonly repeated: ParsedDocument['repeated'] = [];
  private readonly errors: DocumentError[] = [];
  private readonly notes = new Map<NoteKey, ParsedDocument['notes'][number]>();
  private readonly ignored: ParsedDocument['ignored'] = [];
  private readonly read = new Map<string, DocumentRecord>();
  /** By host and type; null: not needed yet. */
  private stored: ReadonlyMap<string, KnownRecord[]> | null = null;

  constructor(
    private readonly zone: string,
    private readonly ttl: number,
    private readonly provider: ProviderDefinition | undefined,
    private readonly known: readonly KnownRecord[],
  ) {}

  async take(found: Found): Promise<void> {
    if (!found) return;
    if ('leftAside' in found) this.leftAside.push({ line: found.line, type: found.leftAside });
    else if ('message' in found) this.wrong(found);
    else if ('note' in found) {
      this.note(found.note, found.line);
      if (found.set) this.ignored.push({ host: this.hostOf(found.set.host), type: found.set.type });
    } else {
      const { input, isCloudflare = false, wrong = [] } = found;
      await this.record(this.converted(input, isCloudflare, found.line), found, wrong);
    }
  }

  get isFull(): boolean {
    return this.errors.length >= MAX_ERRORS;
  }

  done(): ParsedDocument {
    const { records, leftAside, errors, repeated, ignored, isFull } = this;
    errors.sort((a, b) => a.line - b.line);
    const line = errors.at(-1)?.line ?? 1;
    if (isFull) this.wrong({ line, message: say('after {max} mistakes, no more are looked for', { max: MAX_ERRORS }) });
    return { records, errors, leftAside, repeated, ignored, notes: [...this.notes.values()] };
  }

  private wrong(mistake: Mistake): void {
    this.errors.push(told(mistake));
  }

  private note(key: NoteKey, line: number): void {
    const note = this.notes.get(key) ?? { line, key, count: 0 };
    note.count++;
    this.notes.set(key, note);
  }

  /** A record of another tool as one of the service: see `NOTES`. */
  private converted(given: Record<string, unknown>, isCloudflare: boolean, line: number): Record<string, unknown> {
    const input = { ...given };
    if (typeNameOf(input) === 'SPF' && input.read_only !== true && !this.unchanged(input)) {
      input.type = 'TXT';
      this.note('spf', line);
    }
    if (!isCloudflare || !this.provider) return input;
    const { automaticTtl, minTtl, maxTtl, proxy } = this.provider.capabilities;
    if (input.ttl === AUTOMATIC && automaticTtl !== AUTOMATIC) {
      input.ttl = automaticTtl ?? Math.min(Math.max(AUTOMATIC_S, minTtl), maxTtl);
      this.note('automatic', line);
    }
    if (proxy) return input;
    if (input.proxied) this.note('proxied', line);
    delete input.proxied;
    return input;
  }

  /** @param wrong what the reader of the format has found wrong with it */
  private async record(input: Record<string, unknown>, at: Place, wrong: readonly Mistake[]): Promise<void> {
    const type = typeNameOf(input);
    if (type === 'SOA' || SIGNER_TYPES.has(type)) {
      this.leftAside.push({ line: at.line, type });
      return;
    }
    const isKept = input.read_only === true || (isType(type) && !isKnownType(type));
    if (wrong.length) {
      this.addKnown(input, at.line, wrong.map(told));
      return;
    }
    try {
      const shape = isKept ? RecordPatch : RecordInput;
      const body = (await this.pipe.transform(input, { type: 'body', metatype: shape as never })) as RecordInput;
      const record = isKept ? this.kept(body, input.read_only === true) : this.canonical(body);
      const shown = isKept ? record.value : shownValue(record);
      const given = said(body, { ...record, host: inputHost(record.host, this.zone), value: shown });
      const marked = input.read_only === true;
      this.add({ at: at.line, record, input: given, readOnly: isKept, marked, isStored: false });
    } catch (error) {
      const mistakes = fieldErrorsOf(error).map((mistake) => mistakeAt(at, mistake, input));
      this.addKnown(input, at.line, mistakes);
    }
  }

  /** Accepts an invalid record that the zone already has. @param mistakes to report if it has not */
  private addKnown(input: Record<string, unknown>, line: number, mistakes: DocumentError[]): void {
    const known = this.unchanged(input);
    if (known) this.add(asStored(known, input, line));
    else this.errors.push(...mistakes);
  }

  /** The record of the zone that equals the input in every given field. */
  private unchanged(input: Record<string, unknown>): KnownRecord | undefined {
    this.stored ??= bySet(this.known);
    const host = this.hostOf(input.host ?? input.name);
    const set = this.stored.get(setKey(host, typeNameOf(input))) ?? [];
    return set.find((one) => isUnchanged(one, input));
  }

  private hostOf(given: unknown): string {
    const host = typeof given === 'string' ? given : '';
    try {
      return hostName(host, this.zone);
    } catch (error) {
      if (!(error instanceof InvalidRecord)) throw error;
      return (host.endsWith('.') ? relativeName(host, this.zone) : null) ?? host;
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
    const first = this.read.get(key);
    if (!first) {
      this.read.set(key, one);
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
