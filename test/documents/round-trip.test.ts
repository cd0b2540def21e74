import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import fc from 'fast-check';
import {
  dnsRecord,
  fromRdata,
  isKnownType,
  MAX_TTL,
  recordKey,
  SIGNER_TYPES,
  shownValue,
} from '../../src/dns/record.js';
import { txtPresentation } from '../../src/dns/text.js';
import type { DocumentFormat, ExportFormat, PrintedRecord } from '../../src/documents/document.js';
import { OCTODNS_TYPES } from '../../src/documents/octodns-values.js';
import { parseDocument } from '../../src/documents/parse-document.js';
import { printDocument } from '../../src/documents/print-document.js';
import { SAMPLES } from '../support/samples.js';
import { seedOf } from '../support/seed.js';

const SEED = seedOf('documents');
const ZONE = 'example.com';

const text = (max: number) => fc.string({ unit: 'grapheme', maxLength: max }).filter((s) => !s.includes('\0'));
const ugly = fc
  .array(
    fc.constantFrom(
      '"',
      '\\',
      ';',
      '\\;',
      "'",
      '=',
      '@',
      ',',
      '\n',
      '\r\n',
      '\u2028',
      '{',
      `\${`,
      '%{',
      '\t',
      ' ',
      'ü',
      'a',
      '-',
      '#',
      ':',
    ),
  )
  .map((parts) => parts.join(''));
const host = fc.constantFrom(
  '@',
  'www',
  '*.a',
  '_x._tcp',
  'a.b',
  'on',
  '1',
  '0/25',
  '-x',
  'www.example.com',
  'xn--bcher-kva',
  'null',
);
/** Samples of the types that a document has for itself: what signers maintain is left aside, and SPF is read as TXT. */
const READ = Object.entries(SAMPLES).filter(([type]) => !SIGNER_TYPES.has(type) && type !== 'SPF');
const value = fc.constantFrom(...READ.flatMap(([type, all]) => all.map((rdata) => ({ type, rdata }))));
const txt = fc.oneof(
  text(300),
  ugly,
  ugly.map((s) => `"${s}"`),
  fc.string({ maxLength: 3 }).map((s) => txtPresentation(s)),
);
const rest = fc.record({
  ttl: fc.integer({ min: 0, max: MAX_TTL }),
  weight: fc.option(fc.integer({ min: 0, max: 65535 })),
  line: fc.oneof(fc.constant('default'), fc.constantFrom('电信', 'a,"b"', '=x', '1')),
  proxied: fc.boolean(),
  enabled: fc.boolean(),
  remark: fc.oneof(fc.constant(''), ugly, text(20)).map((s) => s.slice(0, 250).toWellFormed()),
});
const withText = fc.tuple(host, txt, rest).map(([name, value, more]) => ({ ...base(name, 'TXT', value), ...more }));
const withRdata = fc
  .tuple(host, value, rest)
  .map(([name, { type, rdata }, more]) => ({ ...read(name, type, rdata), ...more }));
const records = fc.array(fc.oneof(withText, withRdata, withRdata), { maxLength: 60 });

const base = (name: string, type: string, value: string): PrintedRecord => ({
  ...dnsRecord(
    { host: name === '@' ? name : `${name}.${ZONE}.`, type, value: type === 'TXT' ? shownText(value) : value },
    ZONE,
  ),
  remark: '',
  readOnly: false,
});
/** So that the text itself is the value. */
const shownText = (value: string) => shownValue({ type: 'TXT', value });
/** Where a record of a type can be made. */
function hostFor(name: string, type: string): string {
  return (type === 'DS' && name === '@') || (/^(NS|DS)$/.test(type) && name.startsWith('*')) ? 'www' : name;
}
function read(given: string, type: string, rdata: string): PrintedRecord {
  const name = hostFor(given, type);
  const record = fromRdata(name === '@' ? ZONE : `${name}.${ZONE}`, type, rdata, 9, ZONE);
  assert.ok(record, type);
  return { ...record, remark: '' };
}

/** In the order of their hosts, each record once. */
function listed(some: readonly PrintedRecord[]): PrintedRecord[] {
  const known = new Map(some.map((record) => [recordKey(record), record]));
  return [...known.values()].sort((a, b) => (a.host < b.host ? -1 : a.host > b.host ? 1 : 0));
}

async function printed(format: ExportFormat, some: readonly PrintedRecord[]): Promise<string> {
  async function* pages() {
    yield some;
  }
  let out = '';
  for await (const piece of printDocument(format, ZONE, pages())) out += piece;
  return out;
}

/** What a format holds of a record. */
type Held = (record: Partial<PrintedRecord>) => unknown[];
const inDns: Held = ({ host, type, value, ttl, priority, enabled }) => [host, type, value, ttl, priority, enabled];
const all: Held = (r) => [...inDns(r), r.weight, r.line, r.proxied, r.remark || undefined, r.readOnly];

async function assertSame(format: DocumentFormat, some: readonly PrintedRecord[], held: Held): Promise<void> {
  const document = await printed(format, some);
  const { records: found, errors } = await parseDocument(format, document, ZONE);
  assert.deepEqual(errors, [], document);
  const seen = found.map(({ record, input, readOnly }) => held({ ...record, remark: input.remark ?? '', readOnly }));
  const sorted = (list: unknown[][]) => list.map((one) => JSON.stringify(one)).sort();
  assert.deepEqual(sorted(seen), sorted(some.map(held)), document);
}

const FORMATS: [DocumentFormat, Held, (some: PrintedRecord[]) => PrintedRecord[]][] = [
  ['json', all, listed],
  ['csv', all, listed],
  ['zonefile', inDns, (some) => listed(some.map((record) => ({ ...record, line: 'default' })))],
  ['octodns', (r) => [...inDns(r), r.proxied], octodnsRecords],
];

/** What octoDNS can hold: a set has one TTL, and some types one value. */
function octodnsRecords(some: PrintedRecord[]): PrintedRecord[] {
  const first = new Map<string, PrintedRecord>();
  const kept = listed(some.map((record) => ({ ...record, line: 'default', enabled: true }))).flatMap((record) => {
    const key = `${record.host} ${record.type}`;
    const set = first.get(key);
    if (!OCTODNS_TYPES.includes(record.type) || (set && /^(ALIAS|CNAME|DNAME)$/.test(record.type))) return [];
    if (!set) first.set(key, record);
    return [{ ...record, ttl: set?.ttl ?? record.ttl, proxied: set?.proxied ?? record.proxied }];
  });
  return kept.map((record) => ({ ...record, proxied: record.proxied }));
}

describe(`records that were printed and read (TEST_SEED=${SEED})`, () => {
  it.each(FORMATS)('are the same: %s', async (format, held, some) => {
    await fc.assert(
      fc.asyncProperty(records, (list) => assertSame(format, some(list), held)),
      { seed: SEED, numRuns: 200 },
    );
  });

  it.each(FORMATS)('are the same, one of every type: %s', async (format, held, some) => {
    const every = READ.flatMap(([type, samples]) =>
      samples.map((rdata, i) => read(`${type.toLowerCase()}${i}`, type, rdata)),
    );
    const held_ = some(every);
    assert.ok(held_.length > (format === 'octodns' ? 20 : 60));
    await assertSame(format, held_, held);
  });
});

describe('a printed document', () => {
  const record = (host: string, type: string, value: string, more: Partial<PrintedRecord> = {}): PrintedRecord => ({
    ...(isKnownType(type) ? base(host, type, value) : read(host, type, value)),
    ...more,
  });
  const some = listed([
    record('@', 'NS', 'ns.example.net', { ttl: 60 }),
    record('@', 'CAA', '128 issue "ca.example.net"'),
    record('a', 'A', '192.0.2.1', { proxied: true }),
    record('a', 'A', '192.0.2.2', { ttl: 60 }),
    record('b', 'TXT', `it is "\${off}"\n;`, { enabled: false }),
    record('c', 'TXT', `a "\${b}" %{c} \\n;`, { weight: 5, line: '电信' }),
    record('d', 'HINFO', '"PC" "x"'),
    record('e', 'MX', 'mail.example.net', { priority: 5 }),
    record('f', 'CNAME', 'x.example.net'),
    { ...record('f', 'TXT', 'x'), type: 'URL', readOnly: true, value: 'https://example.net/\nx' },
  ]);

  it('is JavaScript that DNSControl reads', async () => {
    const text = await printed('dnscontrol', some);
    const called: unknown[][] = [];
    const names = ['D', 'NAMESERVER', 'CAA', 'A', 'TXT', 'MX', 'CNAME', 'TTL', 'DnsProvider'];
    const tools = names.map((name) => (...given: unknown[]) => {
      if (name === 'D') called.push(...(given.slice(3) as unknown[][]));
      return [name, ...given];
    });
    const set = ['NewRegistrar', 'NewDnsProvider', 'CAA_CRITICAL', 'CF_PROXY_ON', 'END'];
    new Function(...names, ...set, text)(...tools, String, String, 'CRITICAL', 'PROXY', ['END']);
    assert.deepEqual(called, [
      ['NAMESERVER', 'ns.example.net.'],
      ['CAA', '@', 'issue', 'ca.example.net', 'CRITICAL', ['TTL', 600]],
      ['A', 'a', '192.0.2.1', 'PROXY', ['TTL', 600]],
      ['A', 'a', '192.0.2.2', ['TTL', 60]],
      ['TXT', 'c', `a "\${b}" %{c} \\n;`, ['TTL', 600]],
      ['MX', 'e', 5, 'mail.example.net.', ['TTL', 600]],
      ['CNAME', 'f', 'x.example.net.', ['TTL', 600]],
      ['END'],
    ]);
    for (const comment of [
      '// disabled: TXT("b"',
      '// line "电信", weight 5',
      '// no form for it: d 9 IN HINFO "PC" "x"',
    ])
      assert.ok(text.includes(comment), text);
  });

  it('is HCL for hashicorp/dns', async () => {
    const text = await printed('terraform', some);
    const blocks = text.split('\n\n').slice(1);
    assert.deepEqual(blocks[0]?.split('\n'), [
      'resource "dns_ns_record_set" "apex" {',
      '  zone = "example.com."',
      '  nameservers = [',
      '    "ns.example.net.",',
      '  ]',
      '  ttl = 60',
      '}',
    ]);
    assert.ok(text.includes(`  txt = [\n    "a \\\\\\"$\${b}\\\\\\" %%{c} \\\\\\\\n;",\n  ]\n`), text);
    assert.ok(text.includes('  mx {\n    preference = 5\n    exchange = "mail.example.net."\n  }\n'), text);
    for (const comment of [
      '# no resource for it: @ 600 IN CAA 128 issue "ca.example.net"',
      '# a set has one TTL, here 600: a 60 IN A 192.0.2.2',
      `# disabled: b 600 IN TXT "it is \\"\${off}\\"\\010;" ; disabled`,
      '# without its proxied: a 600 IN A 192.0.2.1 ; proxied',
    ])
      assert.ok(text.includes(`${comment}\n`), text);
  });

  it('says in comments what a zone file and octoDNS cannot hold', async () => {
    const zone = await printed('zonefile', some);
    assert.ok(zone.includes('a 600 IN A 192.0.2.1 ; proxied\n'), zone);
    assert.ok(zone.includes('; of no type of DNS: f 600 IN URL https://example.net/ x\n'), zone);
    assert.ok(zone.includes(';zoneward:disabled b.example.com. 600 IN TXT'), zone);
    const yaml = await printed('octodns', some);
    assert.ok(yaml.includes('  # a set has one TTL, here 600: a 60 IN A 192.0.2.2\n'), yaml);
    assert.ok(yaml.includes('  # octoDNS has no form for it: d 9 IN HINFO "PC" "x"\n'), yaml);
    for (const [format, text] of [
      ['zonefile', zone],
      ['octodns', yaml],
    ] as const)
      assert.deepEqual((await parseDocument(format, text, ZONE)).errors, []);
  });

  it('is one also where there is nothing in it', async () => {
    for (const [format] of FORMATS) await assertSame(format, [], inDns);
  });
});
