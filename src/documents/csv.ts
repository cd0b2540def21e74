import { shownValue } from '../dns/record.js';
import { csvCell, isFormula } from '../platform/common/csv.js';
import { type FieldText, say } from '../platform/common/words/field-text.js';
import { type Found, inputHost, Lines, type PrintedRecord, type Printer } from './document.js';

type Column = keyof typeof COLUMNS;
const flag = (on: boolean): string => String(on);

/** The columns of a file, and what a record has in them. */
const COLUMNS = {
  host: ({ host }: PrintedRecord, zone: string) => inputHost(host, zone),
  type: ({ type }: PrintedRecord) => type,
  value: (record: PrintedRecord) => shownValue(record, record.readOnly),
  ttl: ({ ttl }: PrintedRecord) => ttl,
  priority: ({ priority }: PrintedRecord) => priority,
  weight: ({ weight }: PrintedRecord) => weight,
  line: ({ line }: PrintedRecord) => line,
  proxied: ({ proxied }: PrintedRecord) => flag(proxied),
  enabled: ({ enabled }: PrintedRecord) => flag(enabled),
  remark: ({ remark }: PrintedRecord) => remark,
  read_only: ({ readOnly }: PrintedRecord) => flag(readOnly),
};
const NAMES = Object.keys(COLUMNS) as Column[];
const REQUIRED: readonly Column[] = ['host', 'type', 'value'];
const HEAD_NEEDED =
  'must begin with a line that names the columns host, type and value, separated by commas, semicolons or tabs';
const NUMBERS: ReadonlySet<Column> = new Set(['ttl', 'priority', 'weight']);
const FLAGS: ReadonlySet<Column> = new Set(['proxied', 'enabled', 'read_only']);
const TRUTH: Record<string, boolean> = { true: true, yes: true, '1': true, false: false, no: false, '0': false };

const SEPARATORS = [',', ';', '\t'];
/** As Excel writes the separator before the rows. */
const TOLD = /^[ \t]*"?sep=([^"\r\n])"?[ \t]*(?:\r?\n|$)/i;

/** What separates the cells, as the first line says or shows, and where the rows begin. */
function separatorOf(text: string): { separator: string; from: number } {
  const told = TOLD.exec(text);
  if (told) return { separator: told[1] as string, from: told[0].length };
  const first = /\S[^\r\n]*/.exec(text)?.[0] ?? '';
  const count = (separator: string) => first.split(separator).length;
  return { separator: SEPARATORS.toSorted((a, b) => count(b) - count(a))[0] as string, from: 0 };
}

const cellOf = (separator: string): RegExp => {
  const one = `\\u${separator.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return new RegExp(`(?:"([^"]*(?:""[^"]*)*)"|([^"${one}\\r\\n]*))(${one}|\\r?\\n|$)`, 'y');
};
const isBlank = (cell: string): boolean => cell.trim() === '';

interface Row {
  line: number;
  column: number;
  cells: string[];
  fault: FieldText | null;
}

/** Rows of RFC 4180; one that is broken ends with its line. */
function* rowsOf(text: string): Generator<Row> {
  const lines = new Lines(text);
  const { separator, from } = separatorOf(text);
  const cell = cellOf(separator);
  for (let at = from; at < text.length; ) {
    const row: Row = { ...lines.at(at), cells: [], fault: null };
    for (let end = separator; end === separator; ) {
      cell.lastIndex = at;
      const match = cell.exec(text);
      if (!match) {
        row.fault =
          text[at] === '"' && text.indexOf('"', at + 1) < 0 ? 'a quote is not closed' : 'a quote inside a word';
        Object.assign(row, lines.at(at));
        at = text.indexOf('\n', at) + 1 || text.length;
        break;
      }
      row.cells.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '');
      end = match[3] as string;
      at += match[0].length;
    }
    yield row;
  }
}

/** The columns that the first row names; null when something is wrong with it. */
function* headOf({ line, cells }: Row): Generator<Found, Column[] | null> {
  let isRight = true;
  const columns = cells
    .slice(0, cells.findLastIndex((cell) => !isBlank(cell)) + 1)
    .map((cell) => cell.trim().toLowerCase());
  for (const [i, name] of columns.entries()) {
    if (NAMES.includes(name as Column) && columns.indexOf(name) === i) continue;
    isRight = false;
    const values = NAMES.join(', ');
    if (columns.indexOf(name) < i)
      yield { line, message: say('"{name}" names two columns', { name: name.slice(0, 50) }), code: 'duplicate' };
    else yield { line, message: say('"{name}" is no column: use {values}', { name: name.slice(0, 50), values }) };
  }
  if (REQUIRED.every((name) => columns.includes(name))) return isRight ? (columns as Column[]) : null;
  yield { line, message: HEAD_NEEDED, code: 'required' };
  return null;
}

/** A cell as the field that it is of; what is no number or truth stays a text, which is told as every wrong field. */
function fieldOf(name: Column, cell: string): unknown {
  const text = isFormula(cell.replace(/^'+/, '')) && cell.startsWith("'") ? cell.slice(1) : cell;
  const trimmed = text.trim();
  if (NUMBERS.has(name)) return /^\d{1,15}$/.test(trimmed) ? Number(trimmed) : trimmed;
  if (FLAGS.has(name)) return TRUTH[trimmed.toLowerCase()] ?? trimmed;
  return name === 'value' || name === 'remark' ? text : trimmed;
}

/** Reads values separated by commas, semicolons or tabs with a line of column names; an empty cell says nothing. */
export function* readCsv(text: string): Generator<Found> {
  let columns: Column[] | null = null;
  for (const row of rowsOf(text)) {
    const { line, column, cells, fault } = row;
    if (fault) yield { line, column, message: fault };
    else if (cells.every(isBlank)) yield null;
    else if (!columns) {
      columns = yield* headOf(row);
      if (!columns) return;
    } else if (cells.length < columns.length || !cells.slice(columns.length).every(isBlank))
      yield { line, message: say('has {given} cells, not {size}', { given: cells.length, size: columns.length }) };
    else {
      const given = columns.map((name, i) => [name, cells[i] as string] as const);
      const said = given.filter(([name, cell]) => cell !== '' || name === 'value');
      yield { line, input: Object.fromEntries(said.map(([name, cell]) => [name, fieldOf(name, cell)])) };
    }
  }
  if (!columns) yield { line: 1, message: HEAD_NEEDED, code: 'required' };
}

export const csv: Printer = {
  contentType: 'text/csv; charset=utf-8; header=present',
  extension: 'csv',
  print: (zone) => ({
    head: `${NAMES.join(',')}\r\n`,
    *records(records) {
      for (const record of records) yield `${NAMES.map((name) => csvCell(COLUMNS[name](record, zone))).join(',')}\r\n`;
    },
    tail: () => '',
  }),
};
