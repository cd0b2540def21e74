import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { dnsRecord } from '../../../src/dns/record.js';
import { timeIsOver, withinDeadline } from '../../../src/providers/kit/http/deadline-context.js';
import { inPlace } from '../../../src/providers/kit/records/in-place.js';
import type { AllRecordVerbs } from '../../../src/providers/kit/records/record-verbs.js';
import { ProviderError, type RemoteRecord } from '../../../src/providers/provider.js';

const zone = { id: 'z', name: 'example.com' };
const record = (type: string, value: string) => dnsRecord({ host: 'www', type, value }, zone.name);
const held = (type: string, value: string): RemoteRecord => ({
  ...record(type, value),
  remoteId: 'r1',
  readOnly: false,
});
const refused = new ProviderError('rejected', 'no', false);

describe('a record that is replaced by another', () => {
  const verbs = (more: Partial<AllRecordVerbs> = {}) => {
    const done: string[] = [];
    const all: AllRecordVerbs = {
      createRecord: async (_zone, { type }) => `made ${type}${done.push(`create ${type}`) && ''}`,
      updateRecord: async () => assert.fail('nothing is updated'),
      deleteRecord: async (_zone, { type }) => done.push(`delete ${type}`),
      readRecord: async (_zone, before) => before,
      findRecords: async () => [],
      ...more,
    };
    return { all, done };
  };

  it('is created before the old one is deleted, and after it where one of them is a CNAME', async () => {
    const one = verbs();
    assert.equal(await inPlace(one.all, zone, held('A', '192.0.2.1'), record('TXT', 'x')), 'made TXT');
    assert.deepEqual(one.done, ['create TXT', 'delete A']);
    const two = verbs();
    await inPlace(two.all, zone, held('CNAME', 'a.example.net'), record('A', '192.0.2.1'));
    assert.deepEqual(two.done, ['delete CNAME', 'create A']);
  });

  it('keeps or restores the old one when it is refused; a record that may exist is not overwritten', async () => {
    const failing = (error: ProviderError) => {
      const { all, done } = verbs();
      const { createRecord } = all;
      all.createRecord = (z, r) => (r.type === 'A' ? Promise.reject(error) : createRecord(z, r));
      return { all, done };
    };
    const one = failing(refused);
    await assert.rejects(inPlace(one.all, zone, held('TXT', 'x'), record('A', '192.0.2.1')), { kind: 'rejected' });
    assert.deepEqual(one.done, []);
    const two = failing(new ProviderError('rejected', 'no', false));
    const alias = held('CNAME', 'a.example.net');
    await assert.rejects(inPlace(two.all, zone, alias, record('A', '192.0.2.1')), { mayHaveApplied: true });
    assert.deepEqual(two.done, ['delete CNAME', 'create CNAME']);
    const three = failing(new ProviderError('unavailable', 'no answer', true));
    await assert.rejects(inPlace(three.all, zone, alias, record('A', '192.0.2.1')), { mayHaveApplied: true });
    assert.deepEqual(three.done, ['delete CNAME', 'create CNAME']);
    three.done.length = 0;
    three.all.findRecords = async () => [held('A', '192.0.2.1')];
    await assert.rejects(inPlace(three.all, zone, alias, record('A', '192.0.2.1')), { mayHaveApplied: true });
    assert.deepEqual(three.done, ['delete CNAME']);
    const late = failing(new ProviderError('unavailable', 'no answer', true).lateBy('once'));
    await assert.rejects(inPlace(late.all, zone, alias, record('A', '192.0.2.1')), /is gone and was not put back/);
    assert.deepEqual(late.done, ['delete CNAME']);
  });

  it('is restored even after the deadline of the list, and reported as lost where that fails, too', async () => {
    const { all, done } = verbs();
    const { createRecord } = all;
    all.createRecord = async (z, r) => {
      if (r.type !== 'A') return timeIsOver() ? assert.fail('it has a time of its own') : createRecord(z, r);
      throw new ProviderError('rejected', 'no', false);
    };
    const replaced = () => inPlace(all, zone, held('CNAME', 'a.example.net'), record('A', '192.0.2.1'));
    await assert.rejects(withinDeadline(performance.now() - 1, replaced), { kind: 'rejected', message: 'no' });
    assert.deepEqual(done, ['delete CNAME', 'create CNAME']);
    all.createRecord = async () => Promise.reject(new ProviderError('rejected', 'no', false));
    await assert.rejects(replaced(), { kind: 'rejected', message: /is gone and was not put back: no/ });
  });
});
