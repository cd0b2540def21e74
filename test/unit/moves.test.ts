import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import type { CacheRow } from '../../src/cache/reconcile.js';
import { becomes } from '../../src/moves/exchange.service.js';

const row = (id: number, remote_id: string | null, host: string, more: Partial<CacheRow> = {}): CacheRow => ({
  ...{ id, remote_id, host, type: 'A', value: '192.0.2.1', ttl: 300, line: 'default', proxied: false },
  ...{ priority: null, weight: null, enabled: remote_id !== null, read_only: false, remark: '', ...more },
});

describe('the rows of a domain that gets the zone of another provider', () => {
  const to = (rows: CacheRow[], others: CacheRow[]) => becomes({ rows }, { rows: others, remarks: false });

  it('stay the same records, though the other provider has their ids for others', async () => {
    const changes = await to(
      [row(1, '1', 'www', { remark: 'ours' }), row(2, '2', 'mail')],
      [row(8, '1', 'mail', { ttl: 600 }), row(9, '2', 'www')],
    );
    assert.deepEqual([changes.insert, changes.remove], [[], []]);
    assert.deepEqual(
      changes.update.map(({ id, values }) => [id, values.remote_id, values.host, values.ttl, values.remark]),
      [
        [2, '1', 'mail', 600, ''],
        [1, '2', 'www', 300, 'ours'],
      ],
    );
  });

  it('stay here alone where they are disabled, and the other provider holds none that are', async () => {
    const changes = await to([row(1, '1', 'off', { enabled: false })], [row(9, null, 'off')]);
    assert.deepEqual(
      changes.update.map(({ id, values }) => [id, values.remote_id, values.enabled]),
      [[1, null, false]],
    );
    const back = await to([row(9, null, 'off')], [row(1, '1', 'off', { enabled: false })]);
    assert.deepEqual(
      back.update.map(({ id, values }) => [id, values.remote_id, values.enabled]),
      [[9, '1', false]],
    );
  });

  it('go where the other provider does not have them, and come where it alone does', async () => {
    const changes = await to([row(1, '1', 'gone')], [row(9, '1', 'new', { remark: 'theirs' })]);
    assert.deepEqual(
      changes.remove.map(({ id }) => id),
      [1],
    );
    assert.deepEqual(
      changes.insert.map(({ host, remark }) => [host, remark]),
      [['new', 'theirs']],
    );
  });
});
