import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import fc from 'fast-check';
import { EXTRA_TYPES, MANAGED_TYPES, RECORD_TYPES } from '../../src/dns/record.js';
import { tokens } from '../../src/dns/tokens.js';
import { fieldsOf, TYPE_NAMES } from '../../src/dns/types.js';
import { nameToWire, rdataToWire } from '../../src/dns/wire-rdata.js';
import { parseZone, printZone } from '../../src/dns/zonefile.js';
import { parseEntries } from '../../src/dns/zonefile-entries.js';
import { missing } from '../support/bind.js';
import { linesOf } from '../support/dig.js';
import { SAMPLES } from '../support/samples.js';
import { seedOf } from '../support/seed.js';
import { itUnless } from '../support/suites.js';

const SEED = seedOf('zone files');
const ZONE = 'example.com';
const HEAD = '$TTL 9\n@ SOA ns.example.net. h.example.net. 1 2 3 4 5\n@ NS ns.example.net.\n';
const noBind = missing('named-checkzone');

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'zoneward-zonefile-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** What BIND makes of a file, in latin1: its records, or the lines that it complains of. */
function bind(text: string): { lines: ReturnType<typeof linesOf>; wrong: number[]; said: string } {
  const file = join(folder, 'zone');
  writeFileSync(file, text, 'latin1');
  const lenient = ['-k', 'ignore', '-i', 'none', '-n', 'ignore', '-m', 'ignore', '-r', 'ignore', '-S', 'ignore'];
  const run = (...args: string[]) =>
    execFileSync('named-checkzone', [...lenient, ...args, ZONE, file], { stdio: 'pipe' });
  try {
    return { lines: linesOf(run('-q', '-D').toString('latin1')), wrong: [], said: '' };
  } catch {
    // told below, without -q
  }
  try {
    return { lines: [], wrong: [], said: run().toString('latin1') };
  } catch (error) {
    const said = String((error as { stdout: Buffer }).stdout);
    const numbers = [...said.matchAll(/zone:(\d+): (?!no TTL specified; using)/g)].map(([, line]) => Number(line));
    return { lines: [], wrong: [...new Set(numbers)].sort((a, b) => a - b), said };
  }
}

/** One line each, every type at names of its own. */
const everyType = Object.entries(SAMPLES).flatMap(([type, samples]) =>
  samples.map((rdata, i) => `${type.toLowerCase()}${i} ${60 + i} IN ${type} ${rdata}`),
);

const clean = (text: string, zone = ZONE) => {
  const { records, errors } = parseZone(text, zone);
  assert.deepEqual(errors, []);
  return records.map(({ record }) => record);
};

describe(`zones as master files (TEST_SEED=${SEED})`, () => {
  it('prints every type as it was read', () => {
    const known = [...TYPE_NAMES].filter((type) => !MANAGED_TYPES.has(type));
    assert.deepEqual([...known, 'TYPE65534'].sort(), Object.keys(SAMPLES).sort());
    const text = `$ORIGIN ${ZONE}.\n${everyType.join('\n')}\n`;
    const records = clean(text);
    assert.deepEqual(printZone(records, ZONE).split('\n'), text.split('\n'));
    const writable = new Set<string>([...RECORD_TYPES, ...EXTRA_TYPES]);
    for (const { type, readOnly } of records) assert.equal(readOnly, !writable.has(type), type);
  });

  it('prints disabled records so that they are read again, and nothing on two lines', () => {
    const text = `${HEAD}@ MX 10 mx\n;zoneward:disabled example.com. 9 IN TXT "x"\n;zoneward:disabled *.a.example.com. 9 IN A 192.0.2.1\n`;
    const records = clean(text);
    assert.deepEqual(
      records.map((r) => [r.host, r.type, r.value, r.enabled]),
      [
        ['@', 'NS', 'ns.example.net', true],
        ['@', 'MX', 'mx.example.com', true],
        ['@', 'TXT', 'x', false],
        ['*.a', 'A', '192.0.2.1', false],
      ],
    );
    assert.deepEqual(clean(printZone(records, ZONE)), records);
    const odd = (value: string, host = 'a') => ({
      ...{ host, type: 'TXT', value, priority: null, ttl: 9, enabled: true, readOnly: true },
    });
    const printed = printZone([odd('"a\nb" c;d\n@'), odd('"ü'), odd('x\\;', '$a b')], ZONE);
    assert.deepEqual(printed.split('\n').slice(1, -1), [
      'a 9 IN TXT "a\\010b" c\\059d \\064',
      '; a TXT is left out: its data is broken',
      '\\036a\\032b 9 IN TXT x\\;',
    ]);
  });

  it('reads Unicode, a byte order mark, and a TTL for records without one', () => {
    const { records, errors } = parseZone('\uFEFFa TXT "ü€"\n', ZONE, 77);
    assert.deepEqual([records[0]?.record.value, records[0]?.record.ttl, errors], ['ü€', 77, []]);
    assert.deepEqual(parseZone('a A 192.0.2.1\n', ZONE).errors.length, 1);
  });

  const BROKEN = [
    ['a A 999.0.2.1', 'in a.example.com. A: must be an IPv4 address'],
    ['b A 192.0.2.1', null],
    ['c BOGUS x', '"BOGUS" is not a record type: correct it, or remove the line'],
    ['  MX ten mail', 'in c.example.com. MX: priority must be a number'],
    ['  MX mail', 'in c.example.com. MX: needs 2 words of data, not 1'],
    ['d 60 CAA ( 0', null],
    ['  issue "x" y )', null],
    ['e TXT', 'TXT without data'],
    ['f TXT \\999', 'a broken escape'],
    ['g 1h30 A 192.0.2.1', '"1h30" is not a record type: correct it, or remove the line'],
    ['h 1h30m A 192.0.2.1', null],
    ['i SRV 1 2 sip', 'in i.example.com. SRV: needs 4 words of data, not 3'],
    ['j..k A 192.0.2.1', 'in j..k.example.com. A: has an empty label'],
  ] as const;

  it('tells all that is wrong with its records, by line', () => {
    const { records, errors } = parseZone(HEAD + BROKEN.map(([line]) => `${line}\n`).join(''), ZONE);
    const expected = BROKEN.map(([, words], i) =>
      i === 5 ? 'in d.example.com. CAA: has more than one' : words,
    ).flatMap((words, i) => (words ? [[i + 4, words] as const] : []));
    assert.equal(errors.length, expected.length);
    for (const [i, [line, words]] of expected.entries()) {
      assert.equal(errors[i]?.line, line);
      assert.ok(errors[i]?.message.startsWith(words), errors[i]?.message);
    }
    assert.deepEqual(
      records.map(({ line, record }) => [line, record.host, record.ttl]),
      [
        [3, '@', 9],
        [5, 'b', 9],
        [14, 'h', 5400],
      ],
    );
  });

  it('refuses what lies outside of the zone, hosts that cannot be entered, and octets for a type with fields', () => {
    const text = `${HEAD}www.example.net. A 192.0.2.1\na\\032b A 192.0.2.1\nc A \\# 4 c0000201\n$ORIGIN net.\nd A 192.0.2.1\n`;
    assert.deepEqual(
      parseZone(text, ZONE).errors.map(({ line }) => line),
      [4, 5, 6, 8],
    );
  });

  itUnless(noBind)('finds fault with the lines that BIND finds fault with', () => {
    const text = HEAD + BROKEN.map(([line]) => `${line}\n`).join('');
    const { wrong, said } = bind(text);
    const ours = parseZone(text, ZONE).errors.map(({ line }) => line);
    // of a record over two lines it names the second
    assert.deepEqual(
      ours,
      wrong.map((line) => (line === 10 ? 9 : line)),
      said,
    );
  });

  itUnless(noBind)('writes every type so that BIND reads it, octet for octet the same', () => {
    const unknown = new Set(['ALIAS', 'WALLET', 'RESINFO']);
    const lines = everyType.filter((line) => !unknown.has(line.split(' ')[3] as string));
    const soa = { host: '@', type: 'SOA', value: 'ns.example.net. h.example.net. 1 2 3 4 5', priority: null };
    const ns = { host: '@', type: 'NS', value: 'ns.example.net', priority: null };
    const apex = [soa, ns].map((record) => ({ ...record, ttl: 9, enabled: true }));
    const ours = [...apex, ...clean(`${lines.join('\n')}\n`)];
    const { lines: theirs, said } = bind(printZone(ours, ZONE));
    assert.equal(theirs.length, ours.length, said);
    // CERT has mnemonics for its numbers, which BIND writes
    const opaque = (type: string) => type === 'CERT' || fieldsOf(type).some((f) => f === 'words' || f === 'types');
    const wire = (type: string, rdata: string) => (opaque(type) ? type : rdataToWire(type, rdata).toString('hex'));
    const seen = (list: { owner: string; ttl: number; type: string; rdata: string }[]) =>
      list.map(({ owner, ttl, type, rdata }) => `${owner} ${ttl} ${wire(type, rdata)}`).sort();
    const { entries } = parseEntries(printZone(ours, ZONE), ZONE);
    assert.deepEqual(seen(entries.flatMap(({ record }) => record ?? [])), seen(theirs));
  });

  /** An octet as it may stand in a master file, quoted or not: bare, `\X` or `\DDD`. */
  const octet = (quoted: boolean) =>
    fc.tuple(fc.integer({ min: 0, max: 255 }), fc.constantFrom('bare', '\\X', '\\DDD')).map(([code, how]) => {
      const c = String.fromCharCode(code);
      // a bare dot in an owner would begin a label, or an empty one
      const special = quoted ? /[\n"\\]/ : /[\s;()"\\.]/;
      if (
        how === '\\DDD' ||
        /[\0\n\r]/.test(c) ||
        (how === 'bare' && special.test(c)) ||
        (how === '\\X' && /\d/.test(c))
      )
        return `\\${String(code).padStart(3, '0')}`;
      return how === 'bare' ? c : `\\${c}`;
    });
  const word = (quoted: boolean, maxLength: number) =>
    fc
      .array(octet(quoted), { minLength: quoted ? 0 : 1, maxLength })
      .map((all) => (quoted ? `"${all.join('')}"` : all.join('')));
  const gap = fc.constantFrom(' ', '\t', '  ', ' ( ', ' ) ', ' (\n', '\n ; c )"\n ');
  const string = fc.oneof(word(true, 40), word(false, 20));
  const record = fc.record({
    owner: word(false, 12),
    strings: fc.array(string, { minLength: 1, maxLength: 6 }),
    gaps: fc.array(gap, { minLength: 6, maxLength: 6 }),
  });
  /** Gaps with parentheses and line ends in an order that is allowed. */
  const text = ({ owner, strings, gaps }: { owner: string; strings: string[]; gaps: string[] }) => {
    let depth = 0;
    const laid = strings.map((one, i) => {
      let between = gaps[i] as string;
      if (between.includes('\n ;') && depth === 0) between = ' ';
      if (between === ' ) ' && depth === 0) between = ' ( ';
      if (between.includes('(')) depth++;
      if (between === ' ) ') depth--;
      return between + one;
    });
    return `o\\.${owner}.x 60 IN TXT${laid.join('')}${' )'.repeat(depth)}`;
  };

  itUnless(noBind)('reads random escapes, quotes and parentheses as BIND does', () => {
    for (let round = 0; round < 5; round++) {
      const records = fc.sample(record, { numRuns: 200, seed: SEED + round }).map((one, i) => `r${i}${text(one)}\n`);
      const file = HEAD + records.join('');
      const { lines, said } = bind(file);
      const { entries, errors } = parseEntries(file, ZONE);
      assert.deepEqual(errors, [], `TEST_SEED=${SEED}`);
      const seen = (list: { owner: string; type: string; rdata: string }[]) =>
        list
          .filter(({ type }) => type === 'TXT')
          .map((r) =>
            [nameToWire(r.owner.toLowerCase()), ...(tokens(r.rdata) ?? []).map((t) => t.bytes)]
              .map((b) => b.toString('hex'))
              .join(' '),
          )
          .sort();
      assert.deepEqual(seen(entries.flatMap((entry) => entry.record ?? [])), seen(lines), `TEST_SEED=${SEED} ${said}`);
      assert.equal(entries.map((entry) => entry.text).join(''), file);
    }
  });
});
