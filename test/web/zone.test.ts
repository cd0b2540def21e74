import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { TYPE_PARTS } from '../../src/dns/value-parts.js';
import { secondsOf, shortTtl, type TypeView } from '../../web/src/screens/zone/fields.js';
import { filterOf } from '../../web/src/screens/zone/filter.js';
import { add, change, changesOf, EMPTY, MAX_EDITS, remove, type Tray } from '../../web/src/screens/zone/tray.js';
import { hasParts, joinParts, problemOf, splitValue } from '../../web/src/screens/zone/value-parts.js';
import { FIELDS, rowOf as row } from '../support/record-fields.js';

const TYPES = TYPE_PARTS.map(
  ({ type, example, parts }) => ({ type, value: { example, parts } }) as unknown as TypeView,
);
const typeOf = (name: string) => TYPES.find(({ type }) => type === name) as TypeView;

describe('the parts of a value', () => {
  for (const type of TYPES.filter(hasParts))
    it(`of ${type.type} make the same value again`, () => {
      const { example } = type.value;
      const texts = splitValue(type, example);
      assert.ok(texts);
      assert.equal(texts.length, type.value.parts.length);
      assert.equal(joinParts(type, texts), example);
      assert.deepEqual(
        type.value.parts.flatMap((part, i) => problemOf(part, texts[i] ?? '') ?? []),
        [],
      );
    });

  it('keep blanks and quotes within quotes', () => {
    const texts = splitValue(typeOf('CAA'), '0 issue "ca.example; note=\\"a b\\""');
    assert.deepEqual(texts, ['0', 'issue', 'ca.example; note="a b"']);
    assert.equal(joinParts(typeOf('CAA'), texts as string[]), '0 issue "ca.example; note=\\"a b\\""');
  });

  it('are not those of a value that has others', () => {
    assert.equal(splitValue(typeOf('SRV'), '5 5060'), null);
    assert.equal(splitValue(typeOf('CAA'), '0 issue "open'), null);
    assert.equal(splitValue(typeOf('LOC'), typeOf('LOC').value.example), null);
  });

  it('say what is wrong with numbers and addresses', () => {
    const [, port] = typeOf('SRV').value.parts;
    const [address] = typeOf('A').value.parts;
    assert.ok(port && address);
    assert.deepEqual(problemOf(port, '65536'), { key: 'range', min: 0, max: 65_535 });
    assert.deepEqual(problemOf(port, '5060a'), { key: 'whole' });
    assert.deepEqual(problemOf(port, ' '), { key: 'needed' });
    assert.deepEqual(problemOf(address, '192.0.2.256'), { key: 'ipv4' });
    assert.equal(problemOf(address, '192.0.2.255'), undefined);
  });
});

describe('what is typed above the records', () => {
  const types = new Set(['A', 'MX', 'TXT']);
  for (const [text, filter] of [
    ['', {}],
    ['mail 192.0.2', { keyword: 'mail 192.0.2' }],
    ['MX mail', { type: 'MX', keyword: 'mail' }],
    ['type:mx,txt', { type: 'MX,TXT' }],
    ['type:nope', { keyword: 'type:nope' }],
    ['host:www is:disabled', { host: 'www', enabled: false }],
    ['host:', {}],
    ['value:192.0.2.7', { value: '192.0.2.7' }],
    ['2001:db8::1', { keyword: '2001:db8::1' }],
  ] as const)
    it(`"${text}" asks for ${JSON.stringify(filter)}`, () => assert.deepEqual(filterOf(text, types), filter));
});

describe('a TTL', () => {
  it('is put in as seconds, or as zone files have it', () => {
    assert.deepEqual(['300', '5m', '1h30m', '1d', '', 'soon'].map(secondsOf), [300, 300, 5400, 86_400, null, null]);
  });
  it('is shown in its largest units', () => {
    assert.deepEqual([60, 5400, 86_400, 604_800, 90_061, 0].map(shortTtl), [
      '1m',
      '1h30m',
      '1d',
      '1w',
      '1d1h1m1s',
      '0s',
    ]);
  });
});

describe('the tray', () => {
  const edited = (...steps: ((tray: Tray) => Tray | null)[]) =>
    steps.reduce<Tray>((tray, step) => step(tray) as Tray, EMPTY);

  it('sends only the fields that change, and what goes before what comes', () => {
    const tray = edited(
      (now) => add(now, { ...FIELDS, host: 'new', ttl: null, line: '' }),
      (now) => change(now, row(1), { ...FIELDS, ttl: 60 }),
      (now) => remove(now, row(2)),
    );
    assert.deepEqual(changesOf(tray.edits).changes, [
      { op: 'delete', record_id: 2 },
      { op: 'update', record_id: 1, ttl: 60 },
      { op: 'create', host: 'new', type: 'A', value: '192.0.2.1' },
    ]);
  });

  it('sends a TTL of 0, which is not one left out', () => {
    const tray = edited(
      (now) => add(now, { ...FIELDS, host: 'zero', ttl: 0, line: '' }),
      (now) => change(now, row(1), { ...FIELDS, ttl: 0 }),
    );
    assert.deepEqual(
      changesOf(tray.edits).changes.map(({ ttl }) => ttl),
      [0, 0],
    );
  });

  it('has one edit of a record, against what it was at first', () => {
    const tray = edited(
      (now) => change(now, row(1), { ...FIELDS, ttl: 60 }),
      (now) => change(now, row(1, { ttl: 900 }), { ...FIELDS, ttl: 120 }),
    );
    assert.equal(tray.edits.length, 1);
    assert.equal(tray.edits[0]?.before?.ttl, 300);
    assert.deepEqual(change(tray, row(1), FIELDS)?.edits, []);
  });

  it('refuses what is more than it holds', () => {
    const full = {
      ...EMPTY,
      edits: Array.from({ length: MAX_EDITS }, (_, i) => ({ key: `${i}`, id: i + 1, before: FIELDS, after: null })),
    };
    assert.equal(add(full, FIELDS), null);
    assert.equal(remove(full, row(MAX_EDITS))?.edits.length, MAX_EDITS);
  });
});
