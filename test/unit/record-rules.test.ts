import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import type { StoredRecord } from '../../src/cache/record-cache.js';
import { type RecordPatch, recordView } from '../../src/changes/edits/record.dto.js';
import {
  assertEditable,
  changesOf,
  assertFits as fitsFor,
  mergedRecord,
  newRecord,
  proxyRule,
  withoutAliases,
} from '../../src/changes/edits/record-rules.js';
import { defineProvider, type ProviderDefinition } from '../../src/providers/provider.js';
import { row as rowOf } from '../support/rows.js';

const provider = (capabilities: Partial<ProviderDefinition['capabilities']> = {}): ProviderDefinition =>
  defineProvider({
    kind: 'test',
    label: 'Test',
    docs: '',
    credentials: [[]],
    capabilities: { types: ['A', 'AAAA', 'CNAME', 'MX', 'TXT', 'SRV'], ...capabilities },
    load: () => {
      throw new Error('these rules ask no provider');
    },
  });
const PLAIN = provider();
const PROXY = provider({ proxiedTypes: ['A', 'AAAA', 'CNAME'], minTtl: 60, maxTtl: 86400, automaticTtl: 1 });

const row = (more: Partial<StoredRecord> = {}): StoredRecord => rowOf(1, more);

const merged = (definition: ProviderDefinition, there: StoredRecord, patch: RecordPatch) =>
  mergedRecord(definition, 'example.com', there, patch, changesOf(patch, recordView(there, { synced_at: null })));

/** The fields that a refusal names. */
const wrong =
  (...fields: string[]) =>
  (error: unknown) => {
    const { status, code, data } = error as { status: number; code: number; data: { errors: { path: string }[] } };
    assert.deepEqual([status, code, data.errors.map((e) => e.path)], [400, 400001, fields]);
    return true;
  };

it('a record on a line that is not known here stays on it, and nobody else gets there', () => {
  const lines = provider({ lines: ['default', 'cn'] });
  const there = row({ line: '10=7' });
  assert.equal(merged(lines, there, { value: '192.0.2.9' }).line, '10=7');
  assert.throws(() => merged(lines, row(), { line: '10=7' }), wrong('line'));
});

describe('proxied and line', () => {
  const RULES: [boolean, { proxied?: boolean | null; line?: string | null }, object][] = [
    [true, { line: '1' }, { proxied: true, line: 'default' }],
    [true, { line: '0' }, { proxied: false, line: 'default' }],
    [true, { proxied: false, line: '1' }, { proxied: false, line: 'default' }],
    [true, { proxied: true, line: '0' }, { proxied: true, line: 'default' }],
    [true, { proxied: true, line: 'cn' }, { proxied: true, line: 'default' }],
    [true, { proxied: null, line: '1' }, { proxied: true, line: 'default' }],
    [true, { line: 'default' }, { line: 'default' }],
    [true, {}, { line: undefined }],
    [false, { line: '0' }, { proxied: undefined, line: 'default' }],
    [false, { line: '1' }, { proxied: undefined, line: '1' }],
    [false, { line: 'cn', proxied: null }, { proxied: undefined, line: 'cn' }],
    [false, { proxied: true }, { proxied: true, line: undefined }],
  ];
  for (const [proxy, given, expected] of RULES) {
    it(`${proxy ? 'proxy' : 'no proxy'}: ${JSON.stringify(given)}`, () =>
      assert.deepEqual(proxyRule({ proxy }, given), expected));
  }
});

describe('a new record', () => {
  const create = (definition: ProviderDefinition, input: object) =>
    newRecord(definition, 'example.com', { host: 'www', type: 'A', value: '192.0.2.1', ...input });

  it('has the defaults of the specification', () => {
    const { ttl, line, proxied, enabled, priority } = create(PLAIN, {});
    assert.deepEqual(
      { ttl, line, proxied, enabled, priority },
      {
        ttl: 600,
        line: 'default',
        proxied: false,
        enabled: true,
        priority: null,
      },
    );
  });

  it('may say name for host and mx for priority, and both when they say the same', () => {
    const old = create(PLAIN, { host: undefined, name: 'mail', type: 'MX', value: 'mx.example.net', mx: 7 });
    assert.deepEqual([old.host, old.priority], ['mail', 7]);
    const both = { name: 'WWW.example.com.', type: 'MX', value: 'mx.example.net', priority: 1, mx: 1 };
    assert.deepEqual([create(PLAIN, both).host, create(PLAIN, both).priority], ['www', 1]);
    assert.throws(() => create(PLAIN, { ...both, mx: 2, name: 'b' }), wrong('name', 'mx'));
    assert.throws(() => create(PLAIN, { ...both, mx: 0 }), wrong('mx'));
  });

  it('is answered with all that is wrong with it, each field once, with codes and bounds', () => {
    const all = { host: 'a..b', type: 'NS', value: 'a b', ttl: -1, line: 'cn', proxied: true, weight: 1 };
    assert.throws(() => create(PLAIN, all), wrong('host', 'ttl', 'value', 'type', 'line', 'proxied', 'weight'));
    assert.throws(
      () => create(PROXY, { host: 'www.example.com', type: 'NS', value: '192.0.2.1', ttl: 30 }),
      ({ data }: { data: { errors: { path: string; code: string; params?: object }[] } }) => {
        const [, , type, ttl] = data.errors;
        assert.deepEqual(
          [type?.path, type?.code, type?.params],
          ['type', 'unsupported', { values: PROXY.capabilities.types }],
        );
        assert.deepEqual([ttl?.path, ttl?.code, ttl?.params], ['ttl', 'range', { min: 60, max: 86400 }]);
        return data.errors.length === 4;
      },
    );
  });

  it('needs a host', () => assert.throws(() => create(PLAIN, { host: undefined }), wrong('host')));
  it('needs a type that the provider has', () =>
    assert.throws(() => create(PLAIN, { type: 'NS', value: 'ns.example.net' }), wrong('type')));
  it('keeps to the lines of the provider', () => assert.throws(() => create(PLAIN, { line: 'cn' }), wrong('line')));
  it('keeps to the proxy mode of the provider', () =>
    assert.throws(() => create(PLAIN, { proxied: true }), wrong('proxied')));
  it('proxies addresses and aliases only', () =>
    assert.throws(() => create(PROXY, { type: 'TXT', value: 'x', proxied: true }), wrong('proxied')));
  it('has weights only where the provider has', () =>
    assert.throws(() => create(PLAIN, { weight: 1 }), wrong('weight')));
  it('keeps to the range of TTLs, and to the automatic one', () => {
    assert.throws(() => create(PROXY, { ttl: 59 }), wrong('ttl'));
    assert.throws(() => create(PROXY, { ttl: 86401 }), wrong('ttl'));
    assert.equal(create(PROXY, { ttl: 60 }).ttl, 60);
    assert.equal(create(PROXY, { ttl: 1 }).ttl, 1);
  });
  it('has the automatic TTL when it is proxied', () => assert.equal(create(PROXY, { ttl: 300, line: '1' }).ttl, 1));
});

describe('a partial update', () => {
  const merge = (stored: Partial<StoredRecord>, patch: object, definition = PLAIN) =>
    merged(definition, row(stored), withoutAliases(patch, 'example.com'));

  it('changes what is given only', () => {
    const { id, domain_id, remote_id, read_only, pending, remark, updated_at, created_at, ...same } = row({
      enabled: false,
    });
    assert.deepEqual(merge({ enabled: false }, {}), same);
    assert.deepEqual(merge({ enabled: false }, { ttl: 60 }), { ...same, ttl: 60 });
    assert.deepEqual(merge({ enabled: false }, { name: 'api' }), { ...same, host: 'api' });
  });

  it('leaves a text as it is, even one with quotes of its own', () => {
    const txt = { type: 'TXT', value: '"quoted"' };
    assert.equal(merge(txt, { ttl: 60 }).value, '"quoted"');
    assert.equal(merge(txt, { value: '"\\"quoted\\""' }).value, '"quoted"', 'sent back as it was shown');
    assert.equal(merge(txt, { value: '"quoted"' }).value, 'quoted');
  });

  it('takes what is sent back unchanged, also what nobody could enter', () => {
    const odd = { host: 'a\\032b.example.com', ttl: 0, type: 'MX', value: 'x.example.net/path', priority: 1 };
    const { host, ttl, type, value, priority } = merge(odd, odd);
    assert.deepEqual({ host, ttl, type, value, priority }, odd);
    assert.equal(merge(odd, { priority: 2 }).host, odd.host);
    assert.equal(merge({ ttl: 30 }, { value: '192.0.2.9', ttl: 30 }, PROXY).ttl, 30);
    assert.throws(() => merge(odd, { ttl: -1 }), wrong('ttl'));
    assert.throws(() => merge({}, { host: 'www.example.com' }), wrong('host'));
    assert.equal(merge({ host: 'www.example.com' }, { host: 'www.example.com' }).host, 'www.example.com');
  });

  it('may not say two things at once', () => {
    assert.throws(() => merge({}, { host: 'www', name: 'api' }), wrong('name'));
    assert.throws(
      () => merge({ type: 'MX', value: 'a.example.net', priority: 1 }, { priority: 1, mx: 2 }),
      wrong('mx'),
    );
  });

  it('keeps the priority of MX and SRV unless one is given, apart or in the value', () => {
    const mx = { type: 'MX', value: 'a.example.net', priority: 20 };
    assert.equal(merge(mx, { value: 'b.example.net' }).priority, 20);
    assert.equal(merge(mx, { priority: 0 }).priority, 0);
    assert.equal(merge(mx, { mx: 5 }).priority, 5);
    assert.deepEqual(pick(merge(mx, { value: '30 b.example.net' })), ['b.example.net', 30]);
    const srv = { type: 'SRV', value: '1 5060 a.example.net', priority: 20, host: '_sip._tcp' };
    assert.deepEqual(pick(merge(srv, { value: '2 5060 a.example.net' })), ['2 5060 a.example.net', 20]);
    assert.deepEqual(pick(merge(srv, { value: '3 2 5060 a.example.net' })), ['2 5060 a.example.net', 3]);
  });

  it('does not carry a priority to another type', () => {
    const mx = { type: 'MX', value: 'a.example.net', priority: 20 };
    assert.equal(merge(mx, { type: 'A', value: '192.0.2.1' }).priority, null);
  });

  it('checks a value that stays against a type that changes', () =>
    assert.throws(() => merge({}, { type: 'AAAA' }), wrong('value')));

  it('follows the proxy rule', () => {
    assert.equal(merge({ proxied: true, ttl: 1 }, { line: '0', ttl: 300 }, PROXY).proxied, false);
    assert.equal(merge({ proxied: true, ttl: 1 }, { value: '192.0.2.2' }, PROXY).proxied, true);
    assert.deepEqual(merge({}, { line: '1' }, PROXY).ttl, 1);
  });
});

const pick = (record: { value: string; priority: number | null }) => [record.value, record.priority];

const assertFits = (record: StoredRecord, others: StoredRecord[]) =>
  fitsFor(record, others, { apexCname: false, judgesDisabled: false }, () => true);
/** The same where the provider judges disabled records as enabled ones. */
const assertFitsDisabled = (record: StoredRecord, others: StoredRecord[]) =>
  fitsFor(record, others, { apexCname: false, judgesDisabled: true }, () => true);

describe('neighbours at one name', () => {
  const other = row({ id: 9 });
  const conflict = (error: unknown) => (error as { code: number }).code === 409001;
  const CNAME = { type: 'CNAME', value: 'example.net' };

  it('may have other values, other types, other lines', () => {
    assertFits(row({ value: '192.0.2.2' }), [other]);
    assertFits(row({ type: 'TXT', value: '192.0.2.1' }), [other]);
    assertFits(row({ line: 'cn' }), [other]);
    const mx = { type: 'MX', value: 'mx.example.net', priority: 10 };
    assertFits(row({ ...mx, priority: 20 }), [row({ ...mx, id: 9 })]);
    assertFits(row({ ...CNAME, line: 'cn' }), [other]);
  });

  it('may not be the same record, not even a disabled one', () => {
    assert.throws(() => assertFits(row(), [other]), conflict);
    assert.throws(() => assertFits(row({ ttl: 1 }), [other]), conflict);
    assert.throws(() => assertFits(row(), [{ ...other, enabled: false }]), conflict);
    assert.throws(() => assertFits(row({ enabled: false }), [other]), conflict);
  });

  it('may not be a CNAME beside other data, on either side', () => {
    assert.throws(() => assertFits(row(CNAME), [other]), wrong('type'));
    assert.throws(() => assertFits(row(), [row({ ...CNAME, id: 9 })]), wrong('type'));
    assert.throws(
      () => assertFits(row({ ...CNAME, value: 'b.example.net' }), [row({ ...CNAME, id: 9 })]),
      wrong('type'),
    );
  });

  it('may not be a second DNAME, nor one beside a CNAME', () => {
    const DNAME = { type: 'DNAME', value: 'example.net' };
    const second = row({ ...DNAME, value: 'b.example.net' });
    assert.throws(() => assertFits(second, [row({ ...DNAME, id: 9 })]), wrong('type'));
    assert.throws(() => assertFits(second, [row({ ...CNAME, id: 9 })]), wrong('type'));
    assertFits(second, [other, row({ ...DNAME, id: 8, enabled: false })]);
    assertFits(row(), [row({ ...DNAME, id: 9 })]);
  });

  it('do not count while they are disabled', () => {
    assertFits(row(CNAME), [{ ...other, enabled: false }]);
    assertFits(row({ ...CNAME, enabled: false }), [other]);
  });

  it('count while they are disabled where the provider judges them so', () => {
    assertFitsDisabled(row(CNAME), [{ ...other, enabled: false }]);
    const off = { ...CNAME, id: 9, enabled: false };
    assertFitsDisabled(row(), [row(off)]);
    for (const [record, beside] of [
      [row({ ...CNAME, enabled: false }), other],
      [row({ enabled: false }), row({ ...CNAME, id: 9 })],
      [row({ ...CNAME, value: 'b.example.net' }), row(off)],
      [row({ type: 'DNAME', value: 'b.example.net' }), row({ ...off, type: 'DNAME' })],
    ] as const)
      assert.throws(() => assertFitsDisabled(record, [beside]), wrong('type'));
  });

  it('are not edited when they are only shown', () => {
    assertEditable(row());
    assert.throws(() => assertEditable(row({ read_only: true })), wrong('id'));
    assert.throws(() => assertEditable(row({ type: 'TYPE65280' })), wrong('id'));
  });
});
