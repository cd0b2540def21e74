import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { dnsRecord } from '../../../src/dns/record.js';
import { fromRecords } from '../../../src/providers/kit/records/from-records.js';
import { inList, orNoZone } from '../../../src/providers/kit/records/in-place.js';
import type { RecordVerbs } from '../../../src/providers/kit/records/record-verbs.js';
import { type Change, ProviderError, type RemoteRecord } from '../../../src/providers/provider.js';

const zone = { id: 'z', name: 'example.com' };
const held = (type: string, value: string, more: Partial<RemoteRecord> = {}): RemoteRecord => ({
  ...dnsRecord({ host: 'www', type, value }, zone.name),
  ...{ remoteId: 'r1', readOnly: false },
  ...more,
});

describe('what is declared beside the verbs', () => {
  const world = (more: Partial<RecordVerbs>, there: RemoteRecord[] = []) => {
    const done: string[] = [];
    const apply = fromRecords({
      createRecord: async (_zone, { type }) => `new ${done.push(`create ${type}`)}`,
      updateRecord: async (_zone, { remoteId }) => (done.push('update') ? remoteId : ''),
      deleteRecord: async (_zone, { type }) => done.push(`delete ${type}`),
      readRecord: inList(async () => there),
      ...more,
    });
    return { done, run: async (...changes: Change[]) => apply(zone, changes) };
  };
  const judge = ({ value }: { value: string }) => {
    if (value === 'bad') throw new ProviderError('rejected', 'not so', false);
  };
  const [good, bad] = [held('TXT', 'good'), held('TXT', 'bad')];

  it('what the vendor cannot hold is sent nowhere, and what would make room for it stays', async () => {
    for (const fixed of [[], ['value', 'type']] as const) {
      const { done, run } = world({ judge, fixed });
      const alias = held('CNAME', 'a.example.net');
      for (const change of [
        { op: 'create', after: bad },
        { op: 'update', before: good, after: bad },
        { op: 'update', before: alias, after: bad },
      ] as const) {
        const [outcome] = await run(change);
        assert.ok(outcome && !outcome.ok && outcome.error.kind === 'rejected' && !outcome.error.mayHaveApplied);
      }
      assert.deepEqual(done, []);
    }
  });

  it('nor is it in a batch, of which the others are', async () => {
    const sent: number[] = [];
    const batch: RecordVerbs['batch'] = async (_zone, changes) => {
      sent.push(changes.length);
      return changes.map(() => 'b');
    };
    const outcomes = await world({ judge, batch }).run(
      { op: 'create', after: bad },
      { op: 'create', after: good },
      { op: 'create', after: held('A', '192.0.2.1') },
    );
    assert.deepEqual(
      outcomes.map(({ ok }) => ok),
      [false, true, true],
    );
    assert.deepEqual(sent, [2]);
  });

  it('what an update cannot change makes a new record, and only that', async () => {
    const { done, run } = world({ fixed: ['type'] });
    await run({ op: 'update', before: good, after: held('A', '192.0.2.1') });
    await run({ op: 'update', before: good, after: held('TXT', 'other') });
    assert.deepEqual(done, ['create A', 'delete TXT', 'update']);
  });

  it('a vague refusal is looked into: the record is gone, or the refusal stands', async () => {
    const refused = async () => Promise.reject(new ProviderError('rejected', 'no', false));
    const verbs = { vague: true, updateRecord: refused, deleteRecord: refused };
    const [before, after] = [good, held('TXT', 'other')];
    const gone = world(verbs);
    const [update] = await gone.run({ op: 'update', before, after });
    assert.ok(update && !update.ok && update.error.kind === 'not_found');
    assert.deepEqual(await gone.run({ op: 'delete', before }), [{ ok: true, remoteId: null }]);
    for (const change of [
      { op: 'update', before, after },
      { op: 'delete', before },
    ] as const) {
      const [outcome] = await world(verbs, [good]).run(change);
      assert.ok(outcome && !outcome.ok && outcome.error.kind === 'rejected');
    }
    const [plain] = await world({ ...verbs, vague: false }).run({ op: 'delete', before });
    assert.ok(plain && !plain.ok && plain.error.kind === 'rejected');
  });

  it('a zone that cannot be read is gone only where no list shows it', async () => {
    const read = () => Promise.reject(new ProviderError('rejected', 'no', false));
    await assert.rejects(
      orNoZone(zone, read, async () => []),
      { kind: 'not_found' },
    );
    await assert.rejects(
      orNoZone(zone, read, async () => [zone]),
      { kind: 'rejected' },
    );
  });
});
