import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { rowOf } from '../../../src/cache/reconcile.js';
import { dnsRecord, MAX_EXTRA_BYTES, ROOM } from '../../../src/dns/record.js';
import { kept, keptOutcome } from '../../../src/providers/kit/values/kept.js';
import type { RemoteRecord } from '../../../src/providers/provider.js';

const zone = 'example.com';
const after = dnsRecord({ host: 'www', type: 'A', value: '192.0.2.1', ttl: 60 }, zone);
const shown = (more: Partial<RemoteRecord>): RemoteRecord =>
  kept({ ...after, remoteId: '7', readOnly: false, ...more }, zone, new Set(['A']));
/** As a text in JSON it has two bytes more, or the double. */
const extra = (bytes: number) => 'x'.repeat(bytes - 2);

describe('settings of a record', () => {
  it('are kept as long as a state of the record has room for them, beside all else of it', () => {
    const fits = extra(MAX_EXTRA_BYTES);
    assert.deepEqual([shown({ extra: fits }).extra, shown({ extra: fits }).readOnly], [fits, false]);
    const texts = Object.entries(ROOM).map(([name, most]) => [name, '\u0001'.repeat(most)]);
    const { value: _value, ...state } = rowOf({
      ...shown({ extra: fits, ...Object.fromEntries(texts), readOnly: true }),
      ...{ extra: fits, readOnlyReason: '\u0001'.repeat(ROOM.reason) },
    });
    assert.ok(Buffer.byteLength(JSON.stringify(state)) <= 65_535);
  });

  it('make it read-only where they are larger, or no text that every database holds', () => {
    const many = '"'.repeat(MAX_EXTRA_BYTES / 2);
    for (const odd of [extra(MAX_EXTRA_BYTES + 1), many, 'half \ud800 a pair', 'a\0b', 7 as unknown as string]) {
      const record = shown({ extra: odd });
      assert.equal(record.readOnlyReason, 'It has settings of a form that cannot be kept here');
      assert.deepEqual([record.readOnly, record.extra, record.remoteId, record.host], [true, undefined, '7', 'www']);
      assert.match(record.value, /"192\.0\.2\.1"/);
    }
  });
});

describe('ids of records', () => {
  it('that are too long are the same in lists and of what was written', () => {
    for (const id of ['i'.repeat(256), 'i\0', 'half \ud800 a pair']) {
      const { remoteId, readOnly } = shown({ remoteId: id });
      assert.ok(readOnly && remoteId !== id && remoteId.length <= ROOM.remoteId);
      assert.deepEqual(keptOutcome({ ok: true, remoteId: id }), { ok: true, remoteId });
    }
    assert.deepEqual(keptOutcome({ ok: true, remoteId: '7' }), { ok: true, remoteId: '7' });
    assert.deepEqual(keptOutcome({ ok: true, remoteId: null }), { ok: true, remoteId: null });
  });

  it('that are empty are not one', () => {
    const two = ['192.0.2.1', '192.0.2.2'].map((value) => shown({ remoteId: '', value }));
    assert.ok(two.every(({ readOnly }) => readOnly));
    assert.notEqual(two[0]?.remoteId, two[1]?.remoteId);
  });
});

describe('what a provider holds after a write', () => {
  it('is kept where every column holds it, and left to the next list where one does not', () => {
    const outcome = (more: object) => keptOutcome({ ok: true, remoteId: '7', held: { ...after, ...more } });
    assert.deepEqual(outcome({ ttl: 900 }), { ok: true, remoteId: '7', held: { ...after, ttl: 900 } });
    assert.deepEqual(outcome({ remark: 'x'.repeat(300) }), {
      ...{ ok: true, remoteId: '7', held: { ...after, remark: 'x'.repeat(ROOM.remark) } },
    });
    for (const more of [{ extra: extra(MAX_EXTRA_BYTES + 1) }, { value: 'x'.repeat(70_000) }, { line: 'l'.repeat(65) }])
      assert.deepEqual(outcome(more), { ok: true, remoteId: '7' });
  });
});
