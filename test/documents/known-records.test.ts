import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { type DocumentFormat, type KnownRecord, type PrintedRecord } from '../../src/documents/document.js';
import { parseDocument } from '../../src/documents/parse-document.js';
import { printDocument } from '../../src/documents/print-document.js';
import { providerOf } from '../../src/providers/registry.js';

const ZONE = 'example.com';
const FORMATS = ['zonefile', 'csv', 'json', 'octodns'] as const;

const record = (host: string, type: string, value: string, more: Partial<KnownRecord> = {}): KnownRecord => ({
  ...{ host, type, value, ttl: 300, priority: null, weight: null, line: 'default', proxied: false },
  ...{ enabled: true, read_only: false, ...more },
});

/** Records that nobody could create at a provider of five types, with TTLs of at least 60 seconds. */
const ODD: KnownRecord[] = [
  record('low', 'A', '192.0.2.1', { ttl: 5 }),
  record('zero', 'A', '192.0.2.1', { ttl: 0 }),
  record('p', 'PTR', 'host.example.net'),
  record('s', 'SRV', '5 443 host.example.net', { priority: 1 }),
  record('a!b', 'A', '192.0.2.2'),
  record('l', 'A', '192.0.2.3', { line: 'nowhere' }),
  record('w', 'A', '192.0.2.4', { weight: 7 }),
  record('@', 'CNAME', 'apex.example.net'),
  record('x', 'MX', '10 bad..name.', { read_only: true }),
  record('t', 'TXT', '"\\255"', { read_only: true }),
  record('k', 'HINFO', '"a" "b"', { read_only: true }),
];
const provider = providerOf('west');
const read = (format: DocumentFormat, text: string, known: readonly KnownRecord[]) =>
  parseDocument(format, text, ZONE, { provider, known });

/** Our own export. */
async function exported(format: DocumentFormat, records: readonly KnownRecord[]): Promise<string> {
  const printed: PrintedRecord[] = records.map(({ read_only: readOnly, ...rest }) => ({
    ...rest,
    readOnly,
    remark: '',
  }));
  let text = '';
  const pages = (async function* () {
    yield printed;
  })();
  for await (const part of printDocument(format, ZONE, pages)) text += part;
  return text;
}

describe('a document of records that the zone has, and that could not be created', () => {
  it.each(FORMATS)('has no mistake where all of them are unchanged: %s', async (format) => {
    for (const one of ODD) {
      const text = await exported(format, [one]);
      // a format without a form for a record has it in a comment
      const { errors, records } = await read(format, text, ODD);
      assert.deepEqual(errors, [], text);
      assert.ok(records.length === 1 || format === 'octodns', text);
    }
    const { errors, records } = await read(format, await exported(format, ODD), ODD);
    assert.deepEqual(errors, []);
    assert.ok(records.length >= (format === 'octodns' ? 8 : ODD.length));
  });

  it.each(FORMATS)('has a mistake where the zone has none, or another one: %s', async (format) => {
    for (const one of ODD.slice(0, 5)) {
      const text = await exported(format, [one]);
      assert.notDeepEqual((await read(format, text, [])).errors, [], text);
      const other = { ...one, ttl: one.ttl + 1 };
      assert.notDeepEqual((await read(format, text, [other])).errors, [], text);
      assert.notDeepEqual((await read(format, text, [{ ...one, host: 'other' }])).errors, [], text);
    }
  });

  it('reports a mistake when a field differs from the stored record', async () => {
    const known = [record('low', 'A', '192.0.2.1', { ttl: 5 })];
    const body = { host: 'low', type: 'A', value: '192.0.2.1', ttl: 5 };
    const errorsOf = async (more: object) => (await read('json', JSON.stringify([{ ...body, ...more }]), known)).errors;
    for (const same of [{}, { enabled: true }, { line: 'default' }, { proxied: false }, { priority: null }])
      assert.deepEqual(await errorsOf(same), [], JSON.stringify(same));
    for (const other of [{ enabled: false }, { line: 'x' }, { weight: 1 }, { expires_at: '2099-01-01T00:00:00Z' }])
      assert.notDeepEqual(await errorsOf(other), [], JSON.stringify(other));
  });

  it('matches equal rdata in another notation and types given as TYPEnn', async () => {
    const text = 'p 300 TYPE12 \\# 18 04686f7374076578616d706c65036e657400\nk 300 TYPE13 \\# 4 01610162\n';
    assert.deepEqual((await read('zonefile', text, ODD)).errors, []);
  });
});

describe('records that signers maintain', () => {
  const DATA: Record<string, string> = {
    CDS: `12345 13 2 ${'ab'.repeat(32)}`,
    CDNSKEY: '257 3 13 mdsswUyr3DPW132mOi8V9xESWE8jTo0dxCjjnopKl+GqJxpVXckHAeF+KkxLbxILfDLUT0rAK9iUzy1L53eKGQ==',
    ZONEMD: `2018031900 1 1 ${'cd'.repeat(48)}`,
    DNSKEY: '257 3 13 mdsswUyr3DPW132mOi8V9xESWE8jTo0dxCjjnopKl+GqJxpVXckHAeF+KkxLbxILfDLUT0rAK9iUzy1L53eKGQ==',
    RRSIG: 'A 13 2 300 20300101000000 20291201000000 12345 example.com. mdsswUyr3DPW',
    NSEC: 'www.example.com. A RRSIG NSEC',
    NSEC3: '1 0 0 - 0P9MHAVEQVM6T7VBL5LOP2U3T2RP3TOM A RRSIG',
    NSEC3PARAM: '1 0 0 -',
    TYPE65534: '\\# 5 0D3A2F0001',
  };
  const TYPES = Object.keys(DATA).toSorted();
  const documents: [DocumentFormat, (host: string, type: string, data: string, ttl: number) => string, string][] = [
    ['zonefile', (host, type, data, ttl) => `${host} ${ttl} IN ${type} ${data}\n`, ''],
    ['csv', (host, type, data, ttl) => `${host},${type},${data},${ttl}\n`, 'host,type,value,ttl\n'],
    [
      'octodns',
      (host, type, data, ttl) =>
        `'${host === '@' ? '' : `${type}.${host}`}': {type: ${type}, value: '${data}', ttl: ${ttl}}\n`,
      '',
    ],
  ];

  it.each(documents)('are left aside at every kind of account: %s', async (format, lineOf, head) => {
    for (const kind of ['zonefile', 'rfc2136', 'powerdns', 'cloudflare', 'west']) {
      const lines = TYPES.map((type) => lineOf('h', type, DATA[type] as string, 0));
      const text = head + lines.join('') + lineOf('www', 'A', '192.0.2.1', 600);
      const parsed = await parseDocument(format, text, ZONE, { provider: providerOf(kind) });
      assert.deepEqual(parsed.errors, [], kind);
      assert.equal(parsed.records.length, 1);
      assert.deepEqual(parsed.leftAside.map(({ type }) => type).toSorted(), TYPES);
    }
  });

  it('are left aside in JSON, also by their numbers and marked as read-only', async () => {
    const list = TYPES.map((type) => ({ host: '@', type, value: DATA[type], ttl: 0 }));
    const more = [
      { host: '@', type: 'TYPE48', value: DATA.DNSKEY },
      { host: '@', type: 'cds', value: 'broken' },
      { host: '@', type: 'DNSKEY', value: DATA.DNSKEY, read_only: true },
      { host: '@', type: 'SOA', value: 'whatever' },
    ];
    const { errors, leftAside } = await parseDocument('json', JSON.stringify([...list, ...more]), ZONE);
    assert.deepEqual([errors, leftAside.length], [[], TYPES.length + 4]);
  });
});
