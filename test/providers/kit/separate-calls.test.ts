import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { type DnsRecord, dnsRecord } from '../../../src/dns/record.js';
import { orNull } from '../../../src/providers/kit/http/errors.js';
import { fromRecords } from '../../../src/providers/kit/records/from-records.js';
import { type Outcome, ProviderError } from '../../../src/providers/provider.js';

const zone = { id: 'z', name: 'example.com' };
const record: DnsRecord = { ...dnsRecord({ host: 'www', type: 'A', value: '192.0.2.1' }, zone.name), remark: '' };
const before = { ...record, remoteId: 'r1', readOnly: false };

/** Verbs that note what they are asked for; the one that is named fails. */
function kit(fails = '') {
  const calls: string[] = [];
  const step = async (call: string) => {
    calls.push(call);
    if (call.startsWith(fails) && fails) throw new ProviderError('rejected', 'no');
    return 'r2';
  };
  const apply = fromRecords({
    createRecord: () => step('create'),
    updateRecord: () => step('update'),
    turn: (_zone, id, enabled) => step(`turn ${id} ${enabled}`),
    note: (_zone, id, remark) => step(`note ${id} ${remark}`),
    deleteRecord: async () => undefined,
  });
  const create = (after: DnsRecord) => apply(zone, [{ op: 'create', after }]);
  const update = (after: DnsRecord, from = before) => apply(zone, [{ op: 'update', before: from, after }]);
  return { calls, create, update };
}
const short = ([outcome]: Outcome[]) =>
  outcome?.ok ? outcome.remoteId : `${outcome?.error.kind}${outcome?.error.mayHaveApplied ? '?' : ''}`;

describe('records that are written in parts', () => {
  it('are made, and then turned off and noted', async () => {
    const { calls, create } = kit();
    assert.equal(short(await create(record)), 'r2');
    assert.equal(short(await create({ ...record, enabled: false, remark: 'why' })), 'r2');
    assert.deepEqual(calls, ['create', 'create', 'turn r2 false', 'note r2 why']);
  });

  it('go out of DNS first and come into it last, by the id that they have then', async () => {
    const { calls, update } = kit();
    const off = { ...before, enabled: false };
    assert.equal(short(await update({ ...record, ttl: 60, enabled: false, remark: 'n' })), 'r2');
    assert.equal(short(await update({ ...record, ttl: 60 }, off)), 'r2');
    assert.deepEqual(calls, ['turn r1 false', 'update', 'note r2 n', 'update', 'turn r2 true']);
  });

  it('are written in one call where one part changes', async () => {
    const { calls, update } = kit();
    assert.equal(short(await update({ ...record, enabled: false })), 'r1');
    assert.equal(short(await update({ ...record, remark: 'n' })), 'r1');
    assert.deepEqual(calls, ['turn r1 false', 'note r1 n']);
  });

  it('say that something was changed when a later part fails, and not when the first does', async () => {
    const all = { ...record, ttl: 60, enabled: false, remark: 'n' };
    assert.equal(short(await kit('turn').create(all)), 'rejected?');
    assert.equal(short(await kit('note').create(all)), 'rejected?');
    assert.equal(short(await kit('create').create(all)), 'rejected');
    assert.equal(short(await kit('turn').update(all)), 'rejected');
    assert.equal(short(await kit('update').update(all)), 'rejected?');
    assert.equal(short(await kit('update').update({ ...record, ttl: 60 })), 'rejected');
  });
});

describe('orNull', () => {
  it('is null for `not_found`, and throws every other failure', async () => {
    const fail = (kind: ProviderError['kind']) => Promise.reject(new ProviderError(kind, 'no'));
    assert.equal(await orNull(fail('not_found')), null);
    assert.equal(await orNull(Promise.resolve(1)), 1);
    for (const kind of ['auth', 'rejected', 'unavailable'] as const) await assert.rejects(orNull(fail(kind)), { kind });
  });
});
