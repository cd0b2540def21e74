import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { type DnsRecord, dnsRecord } from '../../../src/dns/record.js';
import { fromRecords } from '../../../src/providers/kit/records/from-records.js';
import type { RecordVerbs } from '../../../src/providers/kit/records/record-verbs.js';
import { type Change, type Outcome, ProviderError, type RemoteRecord } from '../../../src/providers/provider.js';

const zone = { id: 'z', name: 'example.com' };
const a = (host: string, value = '192.0.2.1'): DnsRecord => dnsRecord({ host, type: 'A', value, ttl: 300 }, zone.name);
const remote = (host: string): RemoteRecord => ({ ...a(host), remoteId: `id-${host}`, readOnly: false });
const create = (host: string): Change => ({ op: 'create', after: a(host) });
const remove = (host: string, guarded = false): Change => ({ op: 'delete', before: remote(host), guarded });
const update = (host: string, value: string, guarded = false): Change => ({
  ...{ op: 'update', before: remote(host), after: a(host, value), guarded },
});
const nameOf = (change: Change) => `${change.op} ${change.op === 'delete' ? change.before.host : change.after.host}`;
const short = (outcomes: Outcome[]) =>
  outcomes.map((o) => (o.ok ? `${o.remoteId}` : `${o.error.kind}${o.error.mayHaveApplied ? '?' : ''} ${o.tried}`));

/** Verbs that note their calls; `refuses` throws in the place of what a call would do. */
function vendor(refuses: (hosts: string[]) => void = () => {}) {
  const calls: string[] = [];
  const call = (words: string, ...hosts: string[]) => {
    calls.push(words);
    refuses(hosts);
  };
  const verbs: RecordVerbs = {
    createRecord: async (_zone, { host }) => {
      call(`create ${host}`, host);
      return `new-${host}`;
    },
    updateRecord: async (_zone, { remoteId }, { host }) => {
      call(`update ${host}`, host);
      return remoteId;
    },
    deleteRecord: async (_zone, { host }) => call(`delete ${host}`, host),
    readRecord: async (_zone, { host }) => ({ ...remote(host), ...(host === 'moved' && { ttl: 60 }) }),
    async batch(_zone, changes) {
      const hosts = changes.map((change) => (change.op === 'delete' ? change.before.host : change.after.host));
      call(`batch: ${changes.map(nameOf).join(', ')}`, ...hosts);
      return changes.map((change) =>
        change.op === 'delete' ? null : change.op === 'create' ? `new-${change.after.host}` : change.before.remoteId,
      );
    },
  };
  return { calls, apply: fromRecords(verbs) };
}
const no = (kind: ProviderError['kind'], mayHave = false) => {
  throw new ProviderError(kind, 'no', mayHave);
};

describe('lists of records that go in one call', () => {
  it('are sent at once, of a host deletions first; what changes nothing is not sent', async () => {
    const { calls, apply } = vendor();
    const changes = [create('x'), update('same', '192.0.2.1'), update('y', '192.0.2.9'), remove('x')];
    assert.deepEqual(short(await apply(zone, changes)), ['new-x', 'id-same', 'id-y', 'null']);
    assert.deepEqual(calls, ['batch: delete x, create x, update y']);
  });

  it('are single calls where there is one change', async () => {
    const { calls, apply } = vendor();
    assert.deepEqual(short(await apply(zone, [create('x')])), ['new-x']);
    assert.deepEqual(calls, ['create x']);
  });

  it('are tried one by one where they are refused', async () => {
    const { calls, apply } = vendor((hosts) => hosts.includes('bad') && no('rejected'));
    assert.deepEqual(short(await apply(zone, [create('x'), create('bad'), remove('y')])), [
      'new-x',
      'rejected true',
      'null',
    ]);
    assert.deepEqual(calls, ['batch: create x, create bad, delete y', 'create x', 'create bad', 'delete y']);
  });

  it('fail whole where they are atomic, where it is unclear what was done, and where the rest would fail', async () => {
    for (const [kind, mayHave, atomic, expected] of [
      ['rejected', false, true, 'rejected true'],
      ['rejected', true, false, 'rejected? true'],
      ['unavailable', true, false, 'unavailable? true'],
      ['auth', false, false, 'auth true'],
    ] as const) {
      const { calls, apply } = vendor(() => no(kind, mayHave));
      const outcomes = await apply(zone, [create('x'), create('y')], { atomic });
      assert.deepEqual(short(outcomes), [expected, expected]);
      assert.equal(calls.length, 1);
    }
  });

  it('leave out what is guarded and was changed there; where they are atomic, nothing is sent', async () => {
    const changes = [create('x'), update('moved', '192.0.2.9', true), remove('y', true)];
    const { calls, apply } = vendor();
    assert.deepEqual(short(await apply(zone, changes)), ['new-x', 'changed true', 'null']);
    assert.deepEqual(calls, ['batch: create x, delete y']);
    const whole = vendor();
    const outcomes = await whole.apply(zone, changes, { atomic: true });
    assert.deepEqual(short(outcomes), ['changed false', 'changed true', 'changed false']);
    assert.deepEqual(whole.calls, []);
  });

  it('are unclear where the answer does not say what became of each', async () => {
    const verbs = { createRecord: async () => 'x', updateRecord: async () => 'x', deleteRecord: async () => {} };
    const apply = fromRecords({ ...verbs, batch: async () => ['one'] });
    assert.deepEqual(short(await apply(zone, [create('x'), create('y')])), ['unavailable? true', 'unavailable? true']);
  });
});
