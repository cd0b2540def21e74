import { isMap, isScalar, isSeq, LineCounter, type Node, type Pair, parseDocument, type YAMLMap } from 'yaml';
import { SIGNER_TYPES } from '../dns/record.js';
import { type FieldText, say } from '../platform/common/words/field-text.js';
import { type Found, Lines, type Mistake } from './document.js';
import { inputOf, OCTODNS_TYPES } from './octodns-values.js';

/** Seconds of a record that names no TTL, as octoDNS has it. */
const OCTODNS_TTL = 3600;
/** Keys of a set that are read. */
const KEYS: ReadonlySet<string> = new Set(['type', 'ttl', 'value', 'values', 'octodns']);
/** Characters of one host: more would hold up the event loop. */
const MAX_HOST = 131_072;

/**
 * A host with its records: in the outermost mapping, only a key begins a line, but for the `:` before the records of a
 * key that has a `?` in front, as PyYAML writes the empty key of the root.
 */
function* hostsOf(text: string): Generator<{ line: number; part: string }> {
  const begins = /(?<![^\n])(?!:(?:\s|$))[^\s#}\]-]/g;
  const lines = new Lines(text);
  let start = 0;
  for (let match = begins.exec(text); match; match = begins.exec(text)) {
    const { index, 0: found } = match;
    if (index > start) yield { ...lines.at(start), part: text.slice(start, index) };
    start = index;
    begins.lastIndex = index + found.length;
  }
  yield { ...lines.at(start), part: text.slice(start) };
}

/** Reads octoDNS' YAML of one zone. All scalars are read as texts, so that `1.10` and `no` stay what they are. */
export function* readOctodns(text: string): Generator<Found> {
  const known = new Map<string, number>();
  for (const { line, part } of hostsOf(text)) {
    if (part.length > MAX_HOST)
      yield { line, message: say('one host has more than {max} characters', { max: MAX_HOST }) };
    else yield* readHost(part, line, known);
    yield null;
  }
}

/** What is said of a set under `octodns`, its scalars as texts. */
interface Options {
  ignored?: unknown;
  lenient?: unknown;
  cloudflare?: { proxied?: unknown } | undefined;
}

/** Where a node stands in the document. */
type Where = (node: unknown) => { line: number; column: number };

function* readHost(part: string, line: number, known: Map<string, number>): Generator<Found> {
  const counter = new LineCounter();
  const { errors, contents } = parseDocument(part, { lineCounter: counter, schema: 'failsafe', prettyErrors: false });
  const at = (offset: number) => {
    const { line: within, col } = counter.linePos(offset);
    return { line: line + within - 1, column: col };
  };
  const where: Where = (node) => at((node as Node | null)?.range?.[0] ?? 0);
  // the others follow from the first one, which may be found behind the end of the host
  for (const { pos, message } of errors.slice(0, 1)) {
    const place = at(Math.min(pos[0], part.trimEnd().length));
    yield { ...place, message: say('is not YAML: {problem}', { problem: message.slice(0, 200) }) };
  }
  if (errors.length || contents === null || (isScalar(contents) && !contents.value)) return;
  if (!isMap(contents)) return yield { ...where(contents), message: 'must be hosts with their records in YAML' };
  for (const pair of contents.items) {
    const host = keyOf(pair);
    const first = known.get(host);
    const place = where(pair.key);
    const twice = first !== undefined && say('the host is named twice, first in line {line}', { line: first });
    if (twice) yield { ...place, message: twice, code: 'duplicate' };
    else known.set(host, place.line);
    yield* readSets(host, pair, where);
  }
}

function* readSets(host: string, { key, value }: Pair, where: Where): Generator<Found> {
  const types = new Set<string>();
  for (const set of isSeq(value) ? value.items : [value]) {
    if (isMap(set)) yield* new OctodnsSet(host, set, where).read(types);
    else yield { ...where(set ?? key), message: placed(host, '', 'must be a record, or a list of records') };
  }
}

const placed = (host: string, type: string, rule: FieldText): FieldText =>
  say('in {place}: {rule}', { place: `${host || '@'} ${type}`.trim().slice(0, 200), rule });

const keyOf = ({ key }: Pair): string => (isScalar(key) ? String(key.value ?? '') : '');

/** The records of one host and type. */
class OctodnsSet {
  private readonly fields: ReadonlyMap<string, Node | null>;
  private readonly type: string;
  private readonly octodns: Options;

  constructor(
    private readonly host: string,
    private readonly set: YAMLMap,
    private readonly where: Where,
  ) {
    this.fields = new Map(set.items.map((pair) => [keyOf(pair), pair.value as Node | null]));
    this.type = (this.textOf('type') ?? '').toUpperCase();
    const octodns = plainOf(this.fields.get('octodns'));
    this.octodns = typeof octodns === 'object' && octodns ? octodns : {};
  }

  /** @param types those of the host that were read already */
  *read(types: Set<string>): Generator<Found> {
    const { type, set, fields } = this;
    if (!type) return yield this.wrong(set, say('needs "{name}"', { name: 'type' }), 'required');
    if (isTrue(this.octodns.ignored))
      return yield { ...this.where(set), note: 'ignored', set: { host: this.name, type } };
    if (SIGNER_TYPES.has(type)) return yield { ...this.where(set), leftAside: type };
    // older versions of octoDNS supported SPF
    if (!OCTODNS_TYPES.includes(type) && type !== 'SPF') {
      const words = say('octoDNS has records of {values} only', { values: OCTODNS_TYPES.join(', ') });
      return yield this.wrong(fields.get('type'), words, 'choice');
    }
    if (types.has(type)) yield this.wrong(set, 'the type is named twice', 'duplicate');
    types.add(type);
    for (const pair of set.items) {
      const name = keyOf(pair);
      if (KEYS.has(name)) continue;
      yield this.wrong(pair.key, say('"{name}" has no form here', { name: name.slice(0, 50) }), 'unknown');
    }
    yield* this.values();
  }

  private *values(): Generator<Found> {
    const { type, host } = this;
    const given = this.fields.get('values') ?? this.fields.get('value');
    const values = isSeq(given) ? given.items : [given].filter(Boolean);
    if (!values.length) yield this.wrong(this.set, 'needs "value" or "values"', 'required');
    const seconds = this.textOf('ttl') ?? String(OCTODNS_TTL);
    const ttl = /^\d+$/.test(seconds) ? Number(seconds) : seconds;
    const proxied = proxiedOf(this.octodns);
    const rest = { host: this.name, type, ttl, ...(proxied !== undefined && { proxied }) };
    const rule = isTrue(this.octodns.lenient) ? undefined : misplaced(type, host === '');
    for (const node of values) {
      const value = inputOf(type, plainOf(node));
      if (typeof value === 'string') yield this.wrong(node, value);
      else
        yield {
          ...this.where(node),
          input: { ...rest, ...value },
          ...(rule && { wrong: [this.wrong(this.fields.get('type'), rule, 'conflict')] }),
        };
    }
  }

  private get name(): string {
    return this.host === '' ? '@' : this.host;
  }

  private textOf(name: string): string | undefined {
    const node = this.fields.get(name);
    return isScalar(node) ? String(node.value ?? '') : undefined;
  }

  private wrong(node: unknown, rule: FieldText, code: Mistake['code'] = 'format'): Mistake {
    return { ...this.where(node), message: placed(this.host, this.type, rule), code };
  }
}

/** A node as JavaScript has it: texts, lists and objects. */
function plainOf(node: unknown): unknown {
  if (isMap(node)) return Object.fromEntries(node.items.map((pair) => [keyOf(pair), plainOf(pair.value)]));
  if (isSeq(node)) return node.items.map(plainOf);
  return isScalar(node) ? (node.value ?? '') : undefined;
}

function proxiedOf({ cloudflare }: Options): boolean | undefined {
  const proxied = cloudflare?.proxied;
  return typeof proxied === 'string' ? proxied.toLowerCase() === 'true' : undefined;
}

/** What YAML 1.1, which octoDNS reads, has for true. */
const isTrue = (value: unknown): boolean => typeof value === 'string' && /^(true|yes|on)$/i.test(value);

/** The rule against ALIAS below the root or CNAME at it, which octoDNS enforces unless it is lenient. */
function misplaced(type: string, isRoot: boolean): FieldText | undefined {
  if (type === 'ALIAS' && !isRoot) return 'octoDNS has ALIAS at the root only: set octodns.lenient to true';
  if (type === 'CNAME' && isRoot) return 'octoDNS has no CNAME at the root: set octodns.lenient to true';
  return undefined;
}
