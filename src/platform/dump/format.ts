import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { Transform } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { linesOf } from '../common/lines.js';

/**
 * A dump: gzip of JSON lines, the same for all databases. The first line is the header; each table begins with a line
 * that names it, followed by its rows as arrays in the order of the header's columns; the last line is the trailer,
 * without which the file is incomplete. Secrets are encrypted as in the database.
 */
export const FORMAT = 'zoneward-dump';
export const FORMAT_VERSION = 1;

/** Type of a cell: `int` a number, `bool` true or false, `text` a string, `bytes` a base64 string; or null. */
export type CellKind = 'int' | 'bool' | 'text' | 'bytes';
export type Cell = string | number | boolean | null;

export interface DumpTable {
  name: string;
  columns: { name: string; kind: CellKind }[];
}

export interface DumpHeader {
  format: typeof FORMAT;
  format_version: number;
  /** Version of the program that wrote it. */
  version: string;
  created_at: string;
  database: 'sqlite' | 'postgresql' | 'mysql';
  /** Names of the migrations of its schema. */
  migrations: string[];
  /** Ids of the keys that its secrets are encrypted with. */
  keys: string[];
  /** In insertion order: referenced tables come first. */
  tables: DumpTable[];
}

export interface DumpTrailer {
  end: true;
  /** Number of rows by table. */
  rows: Record<string, number>;
  /** The highest id that each table has assigned, including deleted rows: it must not be reused. */
  last_ids: Record<string, number>;
  /** Of all lines before this one. */
  sha256: string;
}

export type DumpLine = DumpHeader | { table: string } | Cell[] | DumpTrailer;

/** The file is not a complete dump; the message says why. */
export class DumpError extends Error {}

/** Table and column names from a file become part of statements, so they are checked first. */
const NAME = /^[a-z_][a-z0-9_]{0,62}$/;
const KINDS: readonly unknown[] = ['int', 'bool', 'text', 'bytes'] satisfies CellKind[];
/** Maximum characters of a line; no row is that long. */
const MAX_LINE = 64 * 1024 * 1024;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const areTexts = (value: unknown, form: RegExp): boolean =>
  Array.isArray(value) && value.every((text) => typeof text === 'string' && form.test(text));
const isTable = (table: unknown): boolean =>
  isObject(table) &&
  NAME.test(String(table.name)) &&
  Array.isArray(table.columns) &&
  table.columns.length > 0 &&
  table.columns.every((column) => isObject(column) && NAME.test(String(column.name)) && KINDS.includes(column.kind));

const isHeader = ({ migrations, keys, tables }: Record<string, unknown>): boolean =>
  areTexts(migrations, /^\w+$/) && areTexts(keys, /^\w*$/) && Array.isArray(tables) && tables.every(isTable);

const areCounts = (value: unknown, tables: readonly DumpTable[]): boolean =>
  isObject(value) &&
  Object.entries(value).every(
    ([name, count]) => tables.some((table) => table.name === name) && Number.isSafeInteger(count) && Number(count) >= 0,
  );

/** Fails on a line too long to be held in memory. */
const withShortLines = () => {
  let length = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const end = chunk.lastIndexOf(10);
      length = end < 0 ? length + chunk.length : chunk.length - end - 1;
      done(length > MAX_LINE ? new Error('a line of it is too long') : null, chunk);
    },
  });
};

/** Converts a value of any driver to a cell. */
export function toCell(kind: CellKind, value: unknown): Cell {
  if (value === null || value === undefined) return null;
  if (kind === 'bool') return value === true || Number(value) === 1;
  if (kind === 'bytes') return Buffer.from(value as Uint8Array).toString('base64');
  if (value instanceof Date) return value.toISOString();
  // integers beyond the range of a number are kept as digits
  if (kind === 'int') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  return String(value);
}

/** Converts a cell to a value that all drivers accept. */
export function fromCell(kind: CellKind, cell: Cell): Cell | Buffer {
  return kind === 'bytes' && typeof cell === 'string' ? Buffer.from(cell, 'base64') : cell;
}

type Broken = (words: string) => DumpError;

const UNREADABLE = new Set<string | undefined>(['ENOENT', 'EACCES', 'EISDIR']);

/**
 * The lines of a dump in order.
 * @throws DumpError when the file is truncated, modified, or something else
 */
export async function* readDump(path: string): AsyncGenerator<DumpLine> {
  const source = createReadStream(path);
  const gunzip = createGunzip();
  const unpacked = source.pipe(gunzip).pipe(withShortLines());
  source.on('error', (error) => gunzip.destroy(error));
  gunzip.on('error', (error) => unpacked.destroy(error));
  const broken: Broken = (words) => new DumpError(`${path} ${words}; nothing was changed`);
  const reading = new Reading(broken);
  try {
    for await (const text of linesOf(unpacked)) yield reading.next(text);
  } catch (error) {
    if (error instanceof DumpError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    if (UNREADABLE.has(code)) throw new DumpError(`${path}: ${message}`);
    throw broken(`is damaged or cut off (${message})`);
  } finally {
    source.destroy();
  }
  reading.assertWhole();
}

/** What the lines of a dump have said so far. */
class Reading {
  private readonly hash = createHash('sha256');
  private readonly rows: Record<string, number> = {};
  private header: DumpHeader | undefined;
  private table: DumpTable | undefined;
  private trailer: DumpTrailer | undefined;

  constructor(private readonly broken: Broken) {}

  /** @throws DumpError for a line that does not follow those before it; SyntaxError */
  next(text: string): DumpLine {
    if (this.trailer) throw this.broken('goes on behind its end');
    const line = JSON.parse(text) as DumpLine;
    if (typeof line !== 'object' || line === null) throw this.broken('has a line that is none of a backup');
    if (!this.header) this.header = headerOf(line, this.broken);
    else if (Array.isArray(line)) this.count(line);
    else if ('end' in line) {
      assertTrailer(line, this.header, this.hash.digest('hex'), this.broken);
      this.trailer = line;
    } else this.begin((line as { table: string }).table, this.header);
    if (!this.trailer) this.hash.update(`${text}\n`);
    return line;
  }

  private count(row: Cell[]): void {
    if (!this.table || row.length !== this.table.columns.length) throw this.broken('has a row that fits no table');
    const { name } = this.table;
    this.rows[name] = (this.rows[name] ?? 0) + 1;
  }

  private begin(name: string, { tables }: DumpHeader): void {
    this.table = tables.find((one) => one.name === name);
    if (!this.table || this.rows[name] !== undefined)
      throw this.broken(`has a table ${name} that its header does not announce`);
    this.rows[name] = 0;
  }

  /** @throws DumpError when lines are missing */
  assertWhole(): void {
    const { header, trailer, rows } = this;
    if (!trailer) throw this.broken('is cut off: its last line is missing');
    if (header?.tables.some(({ name }) => trailer.rows[name] !== rows[name]))
      throw this.broken('does not hold as many rows as it says');
  }
}

/** @throws DumpError */
function headerOf(line: DumpLine, broken: Broken): DumpHeader {
  const header = line as DumpHeader;
  if (header.format !== FORMAT) throw broken('is not a backup of this program');
  if (header.format_version !== FORMAT_VERSION)
    throw broken(`is of the format ${header.format_version}, which this version does not know`);
  if (!isHeader(line as unknown as Record<string, unknown>))
    throw broken('has a header that no program of ours has written');
  return header;
}

/** @param sha256 of all lines before it @throws DumpError */
function assertTrailer(trailer: DumpTrailer, { tables }: DumpHeader, sha256: string, broken: Broken): void {
  if (!areCounts(trailer.rows, tables) || !areCounts(trailer.last_ids, tables))
    throw broken('has an end that no program of ours has written');
  if (trailer.sha256 !== sha256) throw broken('was changed: its checksum is another one');
}

/** Reads and verifies a whole dump before it is used. @throws DumpError */
export async function verifyDump(path: string): Promise<{ header: DumpHeader; trailer: DumpTrailer }> {
  let header: DumpLine | undefined;
  let last: DumpLine | undefined;
  for await (const line of readDump(path)) {
    header ??= line;
    last = line;
  }
  return { header: header as DumpHeader, trailer: last as DumpTrailer };
}
