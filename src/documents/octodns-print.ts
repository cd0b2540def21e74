import { inputHost, type PrintedRecord, type Printer } from './document.js';
import { beside, lineOf, NOT_HERE, setsOf } from './held.js';
import { OCTODNS_TYPES, octodnsValue } from './octodns-values.js';

/** Types that have `value`, and no `values`. */
const SINGLE: ReadonlySet<string> = new Set(['ALIAS', 'CNAME', 'DNAME']);

/** Why a record stands in a comment; empty: it does not. */
function reasonOf(record: PrintedRecord, first: PrintedRecord | undefined): string {
  if (!record.enabled) return 'disabled';
  if (record.readOnly || !OCTODNS_TYPES.includes(record.type)) return 'octoDNS has no form for it';
  if (first && first.ttl !== record.ttl) return `a set has one TTL, here ${first.ttl}`;
  if (first && SINGLE.has(record.type)) return 'the type has one value';
  return octodnsValue(record) === undefined ? 'octoDNS has no form for it' : '';
}

/** What octoDNS needs to be told of a set; empty: nothing. It has ALIAS at the root only, and no CNAME there. */
function optionsOf({ type, host, proxied }: PrintedRecord): string {
  const isRoot = host === '@';
  const lenient = (type === 'ALIAS' && !isRoot) || (type === 'CNAME' && isRoot) ? '      lenient: true\n' : '';
  const more = `${lenient}${proxied ? '      cloudflare:\n        proxied: true\n' : ''}`;
  return more && `    octodns:\n${more}`;
}

/** A set of records in YAML, of which JSON is a part, and comments of those that it cannot have. */
function* written(set: readonly PrintedRecord[], zone: string): Generator<string> {
  let first: PrintedRecord | undefined;
  for (const record of set) {
    const reason = reasonOf(record, first);
    if (reason) {
      yield `  # ${reason}: ${lineOf(record, zone)}\n`;
      continue;
    }
    if (!first) {
      first = record;
      yield `  - type: ${record.type}\n    ttl: ${record.ttl}\n`;
      yield optionsOf(record);
      if (!SINGLE.has(record.type)) yield '    values:\n';
    }
    const more = beside(record, true);
    if (more) yield `      # ${more}\n`;
    yield `    ${SINGLE.has(record.type) ? 'value:' : '  -'} ${JSON.stringify(octodnsValue(record))}\n`;
  }
}

/** The records of one host. @returns whether there are some outside of comments */
function* writtenHost(sets: readonly PrintedRecord[][], zone: string): Generator<string, boolean> {
  const host = sets[0]?.[0]?.host ?? '@';
  const hasAny = sets.flat().some((record) => !reasonOf(record, undefined));
  if (hasAny) yield `${JSON.stringify(host === '@' ? '' : inputHost(host, zone))}:\n`;
  for (const set of sets) yield* written(set, zone);
  return hasAny;
}

export const octodns: Printer = {
  contentType: 'application/yaml; charset=utf-8',
  extension: 'yaml',
  print(zone) {
    let isEmpty = true;
    return {
      head: `---
# ${zone}: ${NOT_HERE}
# routing lines, weights and remarks have no form here; disabled records stand in comments
`,
      *records(records) {
        for (const sets of setsOf(records)) if (yield* writtenHost(sets, zone)) isEmpty = false;
      },
      tail: () => (isEmpty ? '{}\n' : ''),
    };
  },
};
