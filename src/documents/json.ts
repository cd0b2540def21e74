import { shownValue } from '../dns/record.js';
import { type Found, inputHost, Lines, type PrintedRecord, type Printer } from './document.js';

/** A string, a bracket or comma, whatever else, or a quote that is not closed in its line. */
const TOKEN = /"[^"\\\n]*(?:\\.[^"\\\n]*)*"|[[\]{},]|[^"[\]{},]+|"/y;
/** Tokens after which the caller may yield to the event loop. */
const PAUSE = 1000;

/** How much deeper a token leads. */
const STEPS: Record<string, number> = { '[': 1, '{': 1, ']': -1, '}': -1 };

interface Part {
  start: number;
  part: string;
  /** What stands behind it: a comma, a bracket, or nothing where the text is cut short. */
  end: string;
}

/** What a list in JSON has between its brackets and commas; null now and then. */
function* partsOf(text: string, from: number): Generator<Part | null> {
  let [start, at, depth, count] = [from, from, 0, 0];
  for (;;) {
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(text)?.[0];
    if (token === undefined) break;
    at += token.length;
    if (++count % PAUSE === 0) yield null;
    if (depth === 0 && (token === ',' || token === ']')) {
      yield { start, part: text.slice(start, at - 1), end: token };
      if (token === ']') return;
      start = at;
    } else depth = Math.max(0, depth + (STEPS[token] ?? 0));
  }
  yield { start, part: text.slice(start), end: '' };
}

/** A part as JSON, or where it is broken. */
function parsed(part: string): { value: unknown } | { offset: number } {
  try {
    return { value: JSON.parse(part) };
  } catch (error) {
    const position = /position (\d+)/.exec((error as Error).message)?.[1];
    return { offset: Math.min(Number(position ?? 0), part.length) };
  }
}

/** A part of the list as a record. */
function recordIn({ start, part }: Part, lines: Lines): Found {
  const begin = start + (part.length - part.trimStart().length);
  const at = lines.at(begin);
  const read = parsed(part.trimStart());
  if ('offset' in read) return { ...lines.at(begin + read.offset), message: 'is not JSON' };
  const { value } = read;
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { ...at, message: 'must be an object' };
  return { ...at, input: value as Record<string, unknown> };
}

/** Reads a list of records as `POST …/records` takes them, record by record, so that every mistake has its line. */
export function* readJson(document: string): Generator<Found> {
  const lines = new Lines(document);
  const open = /^\s*\[/.exec(document)?.[0].length;
  if (open === undefined) return yield { ...lines.at(0), message: 'must be a list of records in JSON' };
  let end = open;
  for (const found of partsOf(document, open)) {
    if (!found) {
      yield null;
      continue;
    }
    const isEmptyList = found.start === open && found.end === ']' && found.part.trim() === '';
    end = found.start + found.part.length + 1;
    if (found.end === '') return yield { ...lines.at(document.length), message: 'is not JSON' };
    if (!isEmptyList) yield recordIn(found, lines);
  }
  const rest = document.slice(end);
  if (rest.trim()) yield { ...lines.at(end + (rest.length - rest.trimStart().length)), message: 'is not JSON' };
}

/** A record as a body of `POST …/records`. */
function bodyOf(record: PrintedRecord, zone: string): object {
  const { host, type, ttl, priority, weight, line, proxied, enabled, remark, readOnly } = record;
  return {
    host: inputHost(host, zone),
    type,
    value: shownValue(record, readOnly),
    ttl,
    ...(priority !== null && { priority }),
    ...(weight !== null && { weight }),
    line,
    proxied,
    enabled,
    ...(remark && { remark }),
    ...(readOnly && { read_only: true }),
  };
}

export const json: Printer = {
  contentType: 'application/json; charset=utf-8',
  extension: 'json',
  print(zone) {
    let between = '\n';
    return {
      head: '[',
      *records(records) {
        for (const record of records) {
          yield `${between}${JSON.stringify(bodyOf(record, zone))}`;
          between = ',\n';
        }
      },
      tail: () => '\n]\n',
    };
  },
};
