import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { guardsOf, type Row } from '../../src/changes/gate/guards.js';
import type { GuardKey } from '../../src/domains/change-rules/change-rules.js';

const RECORDS = 10;
const row = (id: number): Row => ({ id, host: `h${id}`, type: 'A', value: `192.0.2.${id}`, ttl: 300, enabled: true });
const rows = Array.from({ length: RECORDS }, (_, i) => row(i + 1));

/** The guards that changes of the first records of a zone of ten meet. */
async function met(op: 'update' | 'delete', count: number): Promise<GuardKey[]> {
  const zone = {
    name: 'x.example',
    records: RECORDS,
    rows,
    held: new Map(),
    elsewhere: new Map(),
    ttlFloor: 60,
    emptied: false,
  };
  const changes = rows.slice(0, count).map((before) => {
    const state = {
      remote_id: null,
      line: 'default',
      proxied: false,
      priority: null,
      weight: null,
      read_only: false,
      remark: '',
    };
    const after = op === 'update' ? { ...state, ...before, ttl: 600 } : null;
    return { op, recordId: before.id, before: { ...state, ...before }, after };
  });
  const keys = new Set<GuardKey>(['many_updates', 'many_deletes']);
  return [...new Set((await guardsOf(zone, changes, keys)).flat())];
}

describe('the guards of many changes in a zone of ten records', () => {
  it('are not met by changes of exactly 30 % of the records', async () => {
    assert.deepEqual([await met('update', 3), await met('delete', 3)], [[], []]);
  });

  it('are met by changes of more than 30 % of the records', async () => {
    assert.deepEqual([await met('update', 4), await met('delete', 4)], [['many_updates'], ['many_deletes']]);
  });
});
