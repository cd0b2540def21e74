import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { dnsRecord } from '../../../src/dns/record.js';
import { fromRecords } from '../../../src/providers/kit/records/from-records.js';
import type { RemoteRecord } from '../../../src/providers/provider.js';

const zone = { id: 'z', name: 'example.com' };
const record = (type: string, value: string) => dnsRecord({ host: 'www', type, value }, zone.name);
const held = (type: string, value: string): RemoteRecord => ({
  ...record(type, value),
  remoteId: 'r1',
  readOnly: false,
});

describe('records of vendors whose updates replace the whole record', () => {
  it('keep what was changed at the provider, except for the fields of the update', async () => {
    const sent: object[] = [];
    const theirs = { ...held('A', '192.0.2.99'), ttl: 77, remark: 'theirs' };
    const apply = fromRecords({
      whole: true,
      createRecord: async () => assert.fail('nothing is made'),
      deleteRecord: async () => assert.fail('nothing is deleted'),
      readRecord: async () => theirs,
      updateRecord: async (_zone, before, after) => {
        sent.push([before.value, after.value, after.ttl]);
        return before.remoteId;
      },
    });
    const before = held('A', '192.0.2.1');
    const after = { ...record('A', '192.0.2.1'), ttl: 60 };
    const [outcome] = await apply(zone, [{ op: 'update', before, after }]);
    assert.deepEqual(sent, [['192.0.2.99', '192.0.2.99', 60]]);
    assert.ok(outcome?.ok && outcome.held?.value === '192.0.2.99' && outcome.remoteId === 'r1');
  });

  it('get the requested priority with another type, although the provider has another one', async () => {
    const sent: (number | null)[] = [];
    const before = { ...held('MX', 'mx.example.net'), priority: 10 };
    const apply = fromRecords({
      whole: true,
      createRecord: async () => assert.fail('nothing is made'),
      deleteRecord: async () => assert.fail('nothing is deleted'),
      readRecord: async () => ({ ...before, priority: 77 }),
      updateRecord: async (_zone, { remoteId }, { priority }) => {
        sent.push(priority);
        return remoteId;
      },
    });
    const after = { ...record('SRV', '5 5060 sip.example.net'), priority: 10 };
    await apply(zone, [{ op: 'update', before, after }]);
    assert.deepEqual(sent, [10]);
  });

  it('are never known by an answer without an id, and whatever fails after a write has changed something', async () => {
    const none = { deleteRecord: async () => undefined, updateRecord: async () => 'undefined' };
    for (const id of ['', 'undefined', 'null']) {
      const apply = fromRecords({ ...none, createRecord: async () => id });
      const [outcome] = await apply(zone, [{ op: 'create', after: record('A', '192.0.2.1') }]);
      assert.ok(outcome && !outcome.ok && outcome.error.mayHaveApplied, id);
    }
  });
});
