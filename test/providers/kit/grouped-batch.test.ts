import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { dnsRecord } from '../../../src/dns/record.js';
import { groupedBatch } from '../../../src/providers/kit/records/grouped-batch.js';
import type { Change, RemoteRecord } from '../../../src/providers/provider.js';

const zone = { id: 'z', name: 'example.com' };
const record = (type: string, value: string) => dnsRecord({ host: 'www', type, value }, zone.name);
const held = (type: string, value: string): RemoteRecord => ({
  ...record(type, value),
  remoteId: 'r1',
  readOnly: false,
});

describe('answers to a grouped batch', () => {
  const changes = ['192.0.2.1', '192.0.2.2'].map((value): Change => ({ op: 'create', after: record('A', value) }));
  const update: Change = { op: 'update', before: held('TXT', 'x'), after: record('TXT', 'y') };
  const list = (answers: (RemoteRecord | null)[]) =>
    groupedBatch(
      [...changes, update],
      (c) => [c.op, {}],
      async () => ({ create: answers, update: [held('TXT', 'y')] }),
      (made) => made,
    );

  it('are matched to the changes by content, in any order', async () => {
    const [one, two] = ['192.0.2.1', '192.0.2.2'].map((value, i) => ({ ...held('A', value), remoteId: `n${i}` }));
    const found = await list([two as RemoteRecord, one as RemoteRecord]);
    assert.deepEqual(
      found.map((r) => r?.remoteId),
      ['n0', 'n1', 'r1'],
    );
  });

  it('leave the outcome unclear where one is missing', async () => {
    for (const answers of [
      [held('A', '192.0.2.1')],
      [held('A', '192.0.2.1'), null],
      [held('TXT', 'a'), held('A', '192.0.2.1')],
    ])
      await assert.rejects(list(answers), { mayHaveApplied: true });
  });
});
