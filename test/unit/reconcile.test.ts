import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RemoteRecord } from '../../src/dns/record.js';
import { type CacheRow, difference } from '../../src/records/reconcile.js';

const remote = (remoteId: string, value: string, more: Partial<RemoteRecord> = {}): RemoteRecord => ({
  remoteId,
  host: 'www',
  type: 'A',
  value,
  ttl: 600,
  line: 'default',
  proxied: false,
  priority: null,
  weight: null,
  enabled: true,
  readOnly: false,
  ...more,
});

const row = (id: number, remote_id: string | null, value: string, more: Partial<CacheRow> = {}): CacheRow => ({
  id,
  remote_id,
  host: 'www',
  type: 'A',
  value,
  ttl: 600,
  line: 'default',
  proxied: false,
  priority: null,
  weight: null,
  enabled: true,
  read_only: false,
  ...more,
});

describe('difference between cache and provider', () => {
  it('is nothing when both are the same, in whatever order', () => {
    const rows = [row(1, 'a', '192.0.2.1'), row(2, 'b', '192.0.2.2')];
    assert.deepEqual(difference(rows, [remote('b', '192.0.2.2'), remote('a', '192.0.2.1')]), {
      insert: [],
      update: [],
      remove: [],
    });
  });

  it('is new, changed and gone records, each once', () => {
    const rows = [row(1, 'a', '192.0.2.1'), row(2, 'b', '192.0.2.2')];
    const { insert, update, remove } = difference(rows, [
      remote('a', '192.0.2.9', { ttl: 60 }),
      remote('c', '192.0.2.3'),
    ]);
    assert.deepEqual(
      insert.map((r) => [r.remote_id, r.value]),
      [['c', '192.0.2.3']],
    );
    assert.deepEqual(
      update.map((u) => [u.id, u.rekeyed, u.values.value, u.values.ttl]),
      [[1, false, '192.0.2.9', 60]],
    );
    assert.deepEqual(remove, [{ id: 2, host: 'www' }]);
  });

  for (const change of [
    { ttl: 1 },
    { line: 'cn' },
    { proxied: true },
    { priority: 5 },
    { weight: 5 },
    { enabled: false },
    { readOnly: true },
    { host: 'api' },
    { type: 'AAAA' },
  ] as Partial<RemoteRecord>[]) {
    it(`sees a change of ${Object.keys(change)}, and keeps the id`, () => {
      const { insert, update, remove } = difference([row(7, 'a', '192.0.2.1')], [remote('a', '192.0.2.1', change)]);
      assert.deepEqual([insert.length, remove.length], [0, 0]);
      assert.deepEqual(
        update.map((u) => u.id),
        [7],
      );
    });
  }

  it('keeps the id of a record that the provider gave another one', () => {
    const { insert, update, remove } = difference([row(7, 'old', '192.0.2.1')], [remote('new', '192.0.2.1')]);
    assert.deepEqual([insert, remove], [[], []]);
    assert.deepEqual(
      update.map((u) => [u.id, u.rekeyed, u.values.remote_id]),
      [[7, true, 'new']],
    );
  });

  it('keeps the row of an unfinished write that reached the provider', () => {
    const rows = [row(7, 'old', '192.0.2.1'), row(8, 'other', '192.0.2.8')];
    const now = [remote('new', '192.0.2.2'), remote('other', '192.0.2.8')];
    const { insert, update, remove } = difference(rows, now, new Map([[7, 'new']]));
    assert.deepEqual([insert, remove], [[], []]);
    assert.deepEqual(
      update.map((u) => [u.id, u.values.value]),
      [[7, '192.0.2.2']],
    );
  });

  it('keeps a row that was being disabled when its record has gone, and leaves it alone when it has not', () => {
    const rows = [row(7, 'a', '192.0.2.1')];
    const meant = new Map([[7, null]]);
    const gone = difference(rows, [], meant);
    assert.deepEqual([gone.insert, gone.remove], [[], []]);
    assert.deepEqual(
      gone.update.map((u) => [u.id, u.values.enabled, u.values.remote_id, u.values.value]),
      [[7, false, null, '192.0.2.1']],
    );
    assert.deepEqual(difference(rows, [remote('a', '192.0.2.1')], meant), { insert: [], update: [], remove: [] });
  });

  it('goes by the provider id before the content', () => {
    const rows = [row(1, 'a', '192.0.2.1'), row(2, 'b', '192.0.2.2')];
    const { update } = difference(rows, [remote('a', '192.0.2.2'), remote('b', '192.0.2.1')]);
    assert.deepEqual(update.map((u) => [u.id, u.values.value]).sort(), [
      [1, '192.0.2.2'],
      [2, '192.0.2.1'],
    ]);
  });

  it('pairs equal contents one to one', () => {
    const rows = [row(1, 'a', '192.0.2.1'), row(2, 'b', '192.0.2.1')];
    const { insert, update, remove } = difference(
      rows,
      ['x', 'y', 'z'].map((id) => remote(id, '192.0.2.1')),
    );
    assert.deepEqual(
      update.map((u) => u.id),
      [1, 2],
    );
    assert.deepEqual([insert.length, remove.length], [1, 0]);
  });

  it('does not pair what differs in line', () => {
    const { insert, remove } = difference([row(1, 'a', '192.0.2.1')], [remote('b', '192.0.2.1', { line: 'cn' })]);
    assert.deepEqual([insert.length, remove.length], [1, 1]);
  });

  it('keeps rows that exist only here, and joins them with their record when it is back', () => {
    const rows = [row(1, null, '192.0.2.1', { enabled: false })];
    assert.deepEqual(difference(rows, []), { insert: [], update: [], remove: [] });
    const { insert, update } = difference(rows, [remote('a', '192.0.2.1')]);
    assert.deepEqual(insert, []);
    assert.deepEqual(
      update.map((u) => [u.id, u.values.enabled, u.values.remote_id]),
      [[1, true, 'a']],
    );
  });

  it('takes a record that is listed twice as one', () => {
    const twice = [remote('a', '192.0.2.1'), remote('a', '192.0.2.1')];
    assert.deepEqual(difference([row(1, 'a', '192.0.2.1')], twice), { insert: [], update: [], remove: [] });
  });

  it('removes all when the provider holds nothing', () => {
    assert.deepEqual(difference([row(1, 'a', '192.0.2.1')], []).remove, [{ id: 1, host: 'www' }]);
  });
});
